import { partnersApi } from '@floodgate/partners/api';
import { passesApi } from '@floodgate/passes/api';
import { registrationsApi } from '@floodgate/registrations/api';
import { ticketsApi } from '@floodgate/tickets/api';
import { webhooksApi } from '@floodgate/webhooks/api';

/** The capabilities of the API, one line each. Their hooks run in this order. */
export const CAPABILITIES = [partnersApi, registrationsApi, ticketsApi, webhooksApi, passesApi];
