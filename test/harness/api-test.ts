import type { TestDatabase } from './database.ts';
import { sharedTest as sharedEventTest, test as eventTest, useEvent as useOtherEvent } from './event-test.ts';
import type { Fixture } from './fixture.ts';
import { startInProcessApi, type InProcessApi } from './in-process-api.ts';
import { PartnerClient } from './partner-client.ts';

export { database, db, gala, ticketId, useTicket } from './event-test.ts';

/** The API of the test file. */
export let api: InProcessApi;
/** The partner of the running test, as a client of that API. */
export let partner: PartnerClient;

const SETTINGS: Record<string, string> = {};

async function startApi(
  { database, apiSettings }: { database: TestDatabase; apiSettings: Record<string, string> },
  { onCleanup }: { onCleanup: (close: () => Promise<void>) => void },
) {
  api = await startInProcessApi({ DATABASE_URL: database.url, ...apiSettings });
  onCleanup(() => api.close());
  return api;
}

/** Gives the rest of the running test another event, and its partner. */
export async function useEvent(...settings: Parameters<typeof useOtherEvent>): Promise<void> {
  partner = new PartnerClient(api.baseUrl, await useOtherEvent(...settings));
}

const createPartner = ({ api: { baseUrl }, gala }: { api: InProcessApi; gala: Fixture }) =>
  (partner = new PartnerClient(baseUrl, gala));

/** A test that has an event, and an API that belongs to its file. */
export const test = eventTest
  .extend('apiSettings', { scope: 'file' }, SETTINGS)
  .extend('api', { scope: 'file', auto: true }, startApi)
  .extend('partner', { auto: true }, createPartner);

/** A test that shares its event with the other tests of its file. */
export const sharedTest = sharedEventTest
  .extend('apiSettings', { scope: 'file' }, SETTINGS)
  .extend('api', { scope: 'file', auto: true }, startApi)
  .extend('partner', { scope: 'file', auto: true }, createPartner);
