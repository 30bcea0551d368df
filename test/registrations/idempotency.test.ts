import { createEvent, grantEvent } from '@floodgate/events';
import { deleteExpiredIdempotencyKeys } from '@floodgate/registrations';
import { updateTicket } from '@floodgate/tickets';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { PATIENT, startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

test.override('ticket', {});

let proxy: TcpProxy;
let apis: [InProcessApi, InProcessApi];
let proxiedApi: InProcessApi;
let partner: PartnerClient;
let key: string;

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
  const direct = { DATABASE_URL: given.database.url, ...PATIENT };
  apis = [await startInProcessApi(direct), await startInProcessApi(direct)];
  proxiedApi = await startInProcessApi({
    DATABASE_URL: proxy.through(given.database.url),
    QUEUE_URL: given.database.url,
    IDEMPOTENCY_RETENTION_HOURS: '48',
  });
});

afterAll(async () => {
  await Promise.all([...apis, proxiedApi].map((api) => api.close()));
  await proxy.stop();
});

beforeEach(async () => {
  partner = new PartnerClient(apis[0].baseUrl, given.gala);
  key = randomUUID();
});

const register = (differing = {}, client = partner) =>
  client.register(attendee(given.ticketId, differing), { 'idempotency-key': key });

const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

function expectFirstSuccess(answer: Answer): void {
  expect(answer.body.responseCode).toBe('00');
  expect(answer.headers.has('idempotent-replayed')).toBe(false);
}

async function seatsTaken(): Promise<number> {
  const ticket = given.database.db.selectFrom('tickets').select('taken').where('id', '=', given.ticketId);
  return (await ticket.executeTakeFirstOrThrow()).taken;
}

/** Makes all keys of the event this old. */
async function age(interval: string): Promise<void> {
  await sql`
    update idempotency_keys set created_at = now() - ${interval}::interval
    where event_id = ${given.gala.eventId}`.execute(given.database.db);
}

test('50 concurrent requests with one key, over two APIs, make one registration', async () => {
  const clients = apis.map((api) => new PartnerClient(api.baseUrl, given.gala));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => register({}, clients[index % 2])),
  );

  const granted = answers.filter(({ body }) => body.responseCode === '00');
  expect(new Set(granted.map(({ body }) => body.responseData)).size).toBe(1);
  expect(granted.filter((answer) => !isReplay(answer))).toHaveLength(1);
  for (const answer of answers) if (!granted.includes(answer)) expectFailure(answer, '41');
  expect(await seatsTaken()).toBe(1);
});

test('a replay repeats the first answer and says so, from every API', async () => {
  const first = await register();
  expectFirstSuccess(first);
  for (const api of apis) {
    const replay = await register({}, new PartnerClient(api.baseUrl, given.gala));
    expect(replay.text).toBe(first.text);
    expect(isReplay(replay)).toBe(true);
  }
  expect(await seatsTaken()).toBe(1);
});

test('what is ignored or trimmed makes no different request', async () => {
  const first = await register();
  const replay = await register({ fullName: ' Jane Doe ', unknown: 1 });
  expect(replay.text).toBe(first.text);
});

test('the same key of another partner, or under another event, is another key', async () => {
  const rival = await createFixture(given.database.db);
  await grantEvent(given.database.db, rival.partnerId, given.gala.eventId);
  const ball = await createEvent(given.database.db, {
    name: 'Ball',
    passPrefix: 'BALL',
    duplicatePolicy: 'allow',
  });
  await grantEvent(given.database.db, given.gala.partnerId, ball.id);

  const ours = await register();
  expectFirstSuccess(ours);
  const { baseUrl } = apis[0];
  const asRival = new PartnerClient(baseUrl, { secretKey: rival.secretKey, eventRef: given.gala.eventRef });
  const theirs = await register({ fullName: 'John Doe' }, asRival);
  expectFirstSuccess(theirs);
  expect((await register({ fullName: 'John Doe' }, asRival)).text).toBe(theirs.text);
  const atTheBall = new PartnerClient(baseUrl, { secretKey: given.gala.secretKey, eventRef: ball.ref });
  expectFailure(await register({}, atTheBall), '30');
  expect((await register()).text).toBe(ours.text);
});

test('a key that is in use is not in progress for another partner, nor under another event', async () => {
  const rival = await createFixture(given.database.db);
  await grantEvent(given.database.db, rival.partnerId, given.gala.eventId);
  const ball = await createEvent(given.database.db, {
    name: 'Ball',
    passPrefix: 'BALL',
    duplicatePolicy: 'allow',
  });
  await grantEvent(given.database.db, given.gala.partnerId, ball.id);
  const clientOf = (secretKey: string, eventRef: string) =>
    new PartnerClient(apis[0].baseUrl, { secretKey, eventRef });

  const held = await holdTicket(given.database.db, given.ticketId);
  const first = register();
  await held.waiters(1);
  expectFailure(await register(), '41');
  const asRival = register({}, clientOf(rival.secretKey, given.gala.eventRef));
  const atTheBall = register({}, clientOf(given.gala.secretKey, ball.ref));
  await held.release();
  expectFirstSuccess(await first);
  expectFirstSuccess(await asRival);
  expectFailure(await atTheBall, '30');
});

test('a key is remembered for 24 hours', async () => {
  const first = await register();
  await age('23 h 59 min');
  expect((await register()).text).toBe(first.text);
});

test('a key older than 24 hours can be used anew, even before it is swept away', async () => {
  const first = await register();
  await age('24 h 1 s');
  const second = await register({ fullName: 'John Doe' });
  expectFirstSuccess(second);
  expect(second.body.responseData).not.toBe(first.body.responseData);
  expect((await register({ fullName: 'John Doe' })).text).toBe(second.text);
});

test('where keys count for longer, they do', async () => {
  const patient = new PartnerClient(proxiedApi.baseUrl, given.gala);
  const first = await register({}, patient);
  await age('47 h 59 min');
  expect((await register({}, patient)).text).toBe(first.text);
  await age('48 h 1 s');
  expectFirstSuccess(await register({}, patient));
});

test.each([
  ['32', { capacity: 0 }, { capacity: 5 }],
  ['31', { active: false }, { active: true }],
] as const)(
  'a refusal %s is replayed even when it would be granted now',
  async (code, refusing, granting) => {
    await given.useTicket(refusing);
    const first = await register();
    expectFailure(first, code);
    expect(isReplay(first)).toBe(false);

    await updateTicket(
      given.database.db,
      { shardId: given.gala.shardId, id: given.ticketId },
      granting,
      'test',
    );
    const replay = await register();
    expectFailure(replay, code);
    expect(isReplay(replay)).toBe(true);
    key = randomUUID();
    expectFirstSuccess(await register());
  },
);

test('an answer 90 is not kept: the retry registers', async () => {
  const client = new PartnerClient(proxiedApi.baseUrl, given.gala);
  proxy.setMode('down');
  expectFailure(await register({}, client), '90');
  proxy.setMode('pass');
  expectFirstSuccess(await register({}, client));
});

test('an answer 99 is not kept: the retry registers', async () => {
  await sql`
    create function refuse_all() returns trigger language plpgsql as
      $$ begin raise exception 'broken'; end $$`.execute(given.database.db);
  await sql`
    create trigger refuse_all before insert on registrations execute function refuse_all()`.execute(
    given.database.db,
  );
  expectFailure(await register(), '99');
  await sql`drop trigger refuse_all on registrations`.execute(given.database.db);
  expectFirstSuccess(await register());
});

test('expired keys are deleted in steps, and no others', async () => {
  await sql`
    insert into idempotency_keys (partner_id, event_id, key, fingerprint, outcomes, serials, created_at)
    select ${given.gala.partnerId}::integer, ${given.gala.eventId}::integer, 'key ' || n, gen_random_uuid(), '{sold-out}', '{null}',
      now() - case when n <= 25 then interval '25 h' else interval '23 h' end - n * interval '1 ms'
    from generate_series(1, 30) n`.execute(given.database.db);
  expect(await deleteExpiredIdempotencyKeys(given.database.db, 0, 10, 48)).toBe(0);
  const step = () => deleteExpiredIdempotencyKeys(given.database.db, 0, 10);
  expect([await step(), await step(), await step(), await step()]).toEqual([10, 10, 5, 0]);
  const left = tablesOf(given.database.db)
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('event_id', '=', given.gala.eventId);
  expect(await left.execute()).toHaveLength(5);
});

test.each([
  ['is gone', async () => void (await tablesOf(given.database.db).deleteFrom('registrations').execute())],
  [
    "is another partner's",
    async () => {
      const other = await createFixture(given.database.db);
      const changes = { partner_id: other.partnerId, event_id: other.eventId };
      await tablesOf(given.database.db).updateTable('registrations').set(changes).execute();
    },
  ],
])('a replay whose registration %s is a failure, and no pass reference is made up', async (_what, damage) => {
  expectFirstSuccess(await register());
  await damage();
  expectFailure(await register(), '99', 500);
  await tablesOf(given.database.db).deleteFrom('registrations').execute();
});
