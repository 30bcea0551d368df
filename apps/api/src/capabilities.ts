import { doorApi } from '@floodgate/door/api';
import { doorApp } from '@floodgate/door-app/api';
import { partnersApi } from '@floodgate/partners/api';
import { passesApi } from '@floodgate/passes/api';
import { registrationsApi } from '@floodgate/registrations/api';
import { ticketsApi } from '@floodgate/tickets/api';
import { waitingListApi } from '@floodgate/waiting-list/api';
import { webhooksApi } from '@floodgate/webhooks/api';

/** Capabilities of the API. Their hooks run in this order. */
export const CAPABILITIES = [
  partnersApi,
  registrationsApi,
  waitingListApi,
  ticketsApi,
  webhooksApi,
  passesApi,
  doorApi,
  doorApp,
];
