import { partnersApi } from '@floodgate/partners/api';
import { passesApi } from '@floodgate/passes/api';
import { registrationsApi } from '@floodgate/registrations/api';
import { ticketsApi } from '@floodgate/tickets/api';

/** What the API can do, one line each. The order of their hooks is the order here. */
export const CAPABILITIES = [partnersApi, registrationsApi, ticketsApi, passesApi];

export const JOBS = CAPABILITIES.flatMap((capability) => capability.jobs ?? []);
