import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { startApiProcess, type ServiceProcess } from '../harness/service-process.ts';
import { grantServiceRoles, roleOf } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

// What an operator takes from a running API, and gives back.

test.override('ticket', {});

let api: ServiceProcess & { baseUrl: string };
let partner: PartnerClient;

beforeEach(async () => {
  api = await startApiProcess({ DATABASE_URL: given.database.url, QUEUE_URL: 'redis://127.0.0.1:1' });
  partner = new PartnerClient(api.baseUrl, given.gala);
});

afterEach(async () => {
  expect(await api.end(), api.output()).toBe(0);
});

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const register = (count: number): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, () => partner.register(attendee(given.ticketId))));

const run = (statement: string) => sql.raw(statement).execute(given.database.db);

const GRANT = 'run \\"npm run floodgate -- grant api <role>\\"';
const MIGRATE = 'run \\"npm run floodgate -- migrate\\"';

// Explained once a minute at most: so each under a process of its own.
test.each([
  [
    'a privilege',
    `revoke insert on registrations from ${roleOf('api')}`,
    null,
    `lacks insert on registrations, which the api needs; ${GRANT}`,
  ],
  [
    'the batch function',
    `revoke execute on all functions in schema public from ${roleOf('api')}`,
    null,
    `lacks execute on change_and_read_holds, which the api needs; ${GRANT}`,
  ],
  [
    'a table',
    'alter table batches rename to elsewhere',
    'alter table elsewhere rename to batches',
    `there is no batches; ${MIGRATE}`,
  ],
  [
    'a column',
    'alter table registrations rename column gender to sex',
    'alter table registrations rename column sex to gender',
    `the database schema does not match this release; ${MIGRATE}`,
  ],
])(
  'while it misses %s, registrations are refused and the log says what mends it; nobody restarts it',
  async (_what, take, give, explanation) => {
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
    await waitUntil('it is explained', () => api.output().slice(before).includes(explanation));
    expect(api.output().split(explanation)).toHaveLength(2);
    if (give) await run(give);
    else await grantServiceRoles(given.database.db);
    const [again] = await waitUntil('seats are granted again', async () => {
      const answers = await register(1);
      return answers[0]!.body.responseCode === '00' && answers;
    });
    expect(again!.status).toBe(200);
  },
);
