import { confirmBatches, leaseDueBatches } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli } from '../harness/service-process.ts';

let database: TestDatabase;
let api: InProcessApi;
let gala: Fixture;
let partner: PartnerClient;
let ticketId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startInProcessApi({ DATABASE_URL: database.url });
});
afterAll(async () => {
  await api.close();
  await database.drop();
});
beforeEach(async () => {
  gala = await createFixture(database.db);
  partner = new PartnerClient(api.baseUrl, gala);
  ticketId = await gala.addTicket();
});

async function register(count: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => partner.register(attendee(ticketId))),
  );
  return answers.map(({ body }) => String(body.responseData));
}

/** Finalizes all that is pending, as a worker does. */
async function finalize(): Promise<void> {
  const { shardId } = gala;
  await sql`update batches set relay_at = now() where state = 'pending'`.execute(database.db);
  await confirmBatches(database.db, { shardId, batchIds: await leaseDueBatches(database.db, shardId, 100) });
}

interface Page {
  registrations: { passReference: string; state: string; dateFinalized: string | null }[];
  cursor: string;
  more: boolean;
}

async function list(query = ''): Promise<Page> {
  const response = await fetch(`${api.baseUrl}/api/v1/events/registrations${query}`, {
    headers: { 'x-secret-key': gala.secretKey, 'x-event-ref': gala.eventRef },
  });
  const body = (await response.json()) as { responseCode: string; responseData: Page };
  expect([response.status, body.responseCode]).toEqual([200, '00']);
  return body.responseData;
}

test('an entry has the fields of Get Registration, and the cursor leads on', async () => {
  expect(await list()).toEqual({ registrations: [], cursor: '0', more: false });
  const [passReference] = await register(1);
  expect((await list()).registrations).toEqual([]);
  await finalize();
  const { body } = await partner.registration(passReference!);
  const page = await list();
  expect(page).toEqual({ registrations: [body.responseData], cursor: page.cursor, more: false });
  expect(await list(`?after=${page.cursor}`)).toEqual({
    registrations: [],
    cursor: page.cursor,
    more: false,
  });
});

test('pages hold every registration once', async () => {
  const passReferences = await register(7);
  await finalize();
  passReferences.push(...(await register(4)));
  await finalize();
  const found: string[] = [];
  let page: Page = { registrations: [], cursor: '0', more: true };
  while (page.more) {
    page = await list(`?limit=3&after=${page.cursor}`);
    expect(page.registrations.length).toBeLessThanOrEqual(3);
    found.push(...page.registrations.map((registration) => registration.passReference));
  }
  expect(found.toSorted()).toEqual(passReferences.toSorted());
});

test("another partner's registrations under the same event are not there", async () => {
  const other = await createFixture(database.db);
  await sql`
    insert into event_grants (partner_id, event_id) values (${other.partnerId}, ${gala.eventId})`.execute(
    database.db,
  );
  const theirs = new PartnerClient(api.baseUrl, { ...gala, secretKey: other.secretKey });
  await theirs.register(attendee(ticketId));
  const [mine] = await register(1);
  await finalize();
  expect((await list()).registrations.map(({ passReference }) => passReference)).toEqual([mine]);
});

test('state leaves out what has another one', async () => {
  await register(2);
  await finalize();
  expect((await list('?state=confirmed')).registrations).toHaveLength(2);
  expect((await list('?state=failed')).registrations).toEqual([]);
});

test.each([
  ['?limit=0', 'limit: optional, how many entries at most, from 1 to 1000; 100 where it is missing'],
  ['?limit=1001', 'limit: optional, how many entries at most, from 1 to 1000; 100 where it is missing'],
  ['?after=-1', 'after: optional, the cursor of the page before; without it the history begins anew'],
  ['?after=1&after=2', 'after: optional, the cursor of the page before; without it the history begins anew'],
  ['?state=reserved', 'state: optional, only entries of this state: confirmed, cancelled or failed'],
])('%s is refused', async (query, message) => {
  const response = await fetch(`${api.baseUrl}/api/v1/events/registrations${query}`, {
    headers: { 'x-secret-key': gala.secretKey, 'x-event-ref': gala.eventRef },
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toEqual({ responseCode: '11', responseMessage: message, responseData: null });
});

test('the command lists and shows the same', async () => {
  const [passReference] = await register(1);
  await finalize();
  const env = { DATABASE_URL: database.url };
  const command = ['registration', 'list', String(gala.eventId), String(gala.partnerId), '--json'];
  const listed = await runCli(env, ...command);
  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.output)).toMatchObject({
    registrations: [{ passReference, state: 'confirmed' }],
    more: false,
  });
  const shown = await runCli(env, 'registration', 'show', passReference!);
  expect([shown.code, shown.output]).toEqual([0, expect.stringContaining('confirmed')]);
  const unknown = await runCli(env, 'registration', 'show', `${passReference!.slice(0, -10)}1000000000`);
  expect(unknown).toEqual({ code: 1, output: 'floodgate: no such registration\n' });
});
