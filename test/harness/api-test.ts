import {
  eventTest,
  scopeOf,
  type EventOptions,
  type EventSettings,
  type GivenEvent,
  type TicketOfTest,
} from './event-test.ts';
import type { Fixture } from './fixture.ts';
import { startInProcessApi, type InProcessApi } from './in-process-api.ts';
import { PartnerClient } from './partner-client.ts';
import type { sharedServers } from './shared-servers.ts';

export interface GivenApi extends GivenEvent {
  /** The API of the file. Its log begins with the file. */
  api: InProcessApi;
  /** The partner of the running test, as a client of that API. */
  partner: PartnerClient;
}

interface ApiSettings {
  apiSettings: Record<string, string>;
}

/**
 * Returns the `test` of a file whose tests have an event, and an API. A file that overrides `apiSettings` has
 * an API of its own.
 */
export function apiTest(options: EventOptions = {}) {
  const { test: withEvent, given: givenEvent } = eventTest(options);
  const given = givenEvent as GivenApi;
  const useOtherEvent = given.useEvent.bind(given);
  given.useEvent = async (event?: EventSettings, ticket?: TicketOfTest) => {
    const gala = await useOtherEvent(event, ticket);
    if (given.api) given.partner = new PartnerClient(given.api.baseUrl, gala);
    return gala;
  };
  const startApi = async (
    { servers, apiSettings }: ApiSettings & { servers: typeof sharedServers },
    { onCleanup }: { onCleanup: (close: () => Promise<void>) => void },
  ) => {
    const isShared = options.own === undefined && Object.keys(apiSettings).length === 0;
    const api = isShared
      ? await servers.api()
      : await startInProcessApi({ DATABASE_URL: given.database.url, ...apiSettings });
    api.forgetLog();
    onCleanup(() => (isShared ? Promise.resolve(api.assertNothingPrivate()) : api.close()));
    return (given.api = api);
  };
  const createPartner = ({ api: { baseUrl }, gala }: { api: InProcessApi; gala: Fixture }) =>
    (given.partner = new PartnerClient(baseUrl, gala));
  const test = withEvent
    .extend('apiSettings', { scope: 'file' }, {} as ApiSettings['apiSettings'])
    .extend('api', { scope: 'file', auto: true }, startApi)
    .extend('partner', scopeOf(options.sharesEvent ?? false), createPartner);
  return { test, given };
}
