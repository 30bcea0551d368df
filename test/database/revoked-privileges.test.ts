import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { startApiProcess, type ServiceProcess } from '../harness/service-process.ts';
import { grantServiceRoles, roleOf } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';

// What an operator takes from a running API, and gives back.

let database: TestDatabase;
let api: ServiceProcess & { baseUrl: string };
let gala: Fixture;
let partner: PartnerClient;
let ticketId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApiProcess({ DATABASE_URL: database.url, QUEUE_URL: 'redis://127.0.0.1:1' });
  gala = await createFixture(database.db);
  ticketId = await gala.addTicket();
  partner = new PartnerClient(api.baseUrl, gala);
});

afterAll(async () => {
  expect(await api.end(), api.output()).toBe(0);
  expect(await reconcile(database.db)).toEqual([]);
  await database.drop();
});

const register = (count: number): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, () => partner.register(attendee(ticketId))));

const run = (statement: string) => sql.raw(statement).execute(database.db);

test.each([
  ['a privilege', `revoke insert on registrations from ${roleOf('api')}`, null],
  ['a table', 'alter table batches rename to elsewhere', 'alter table elsewhere rename to batches'],
  [
    'a column',
    'alter table registrations rename column gender to sex',
    'alter table registrations rename column sex to gender',
  ],
])(
  'while it misses %s, registrations are refused as unavailable; nobody restarts it',
  async (_what, take, give) => {
    expect((await register(1))[0]!.body.responseCode).toBe('00');
    const before = api.output().length;
    await run(take);
    for (const answer of await register(20)) expectFailure(answer, '90', 503);
    // One cause, not a line for each request.
    const errors = api
      .output()
      .slice(before)
      .split('\n')
      .filter((line) => /"level":(40|50)/.test(line));
    expect(errors.length).toBeLessThan(20);
    if (give) await run(give);
    else await grantServiceRoles(database.db);
    const [again] = await waitUntil('seats are granted again', async () => {
      const answers = await register(1);
      return answers[0]!.body.responseCode === '00' && answers;
    });
    expect(again!.status).toBe(200);
  },
);
