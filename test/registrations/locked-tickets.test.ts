import type { Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, inject } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// A transaction that somebody forgot in psql holds the row of one ticket. A group of an API has registrations
// for several tickets.

const BATCH_LIMIT = 8;
const LONGEST_COOL_DOWN_MS = 5_000;
const HELD = '"msg":"another transaction keeps a ticket locked';
const FREE = '"msg":"a locked ticket is free again"';

let apis: InProcessApi[];
/** Of all APIs. A breaker stays open until the test lets its time pass. */
let clock: ManualClock;
let ball: Fixture;
/** Has the lowest id, so every group with this ticket locks it first. */
let stuckId: number;
let otherId: number;
let ballId: number;

beforeEach(async () => {
  ball = await createFixture(given.database.db);
  [stuckId, otherId, ballId] = [
    await given.gala.addTicket(),
    await given.gala.addTicket(),
    await ball.addTicket(),
  ];
  apis = [];
  clock = new ManualClock();
});

afterEach(async () => {
  for (const api of apis) await api.close();
  expect(await reconcile(given.database.db)).toEqual([]);
});

/** Postgres waits for a lock for a quarter of the time for an answer. By the clock of the APIs, this time never ends. */
async function startApis(count: number): Promise<void> {
  const settings = {
    DATABASE_URL: given.database.url,
    QUEUE_URL: 'redis://127.0.0.1:1',
    ANSWER_WITHIN_MS: '4000',
    BATCH_LIMIT: String(BATCH_LIMIT),
  };
  for (let index = 0; index < count; index++) apis.push(await startInProcessApi(settings, clock));
}

/** Registers `count` times at every API. */
function registerAt(fixture: Fixture, ticketId: number, count: number): Promise<Answer[]> {
  const partners = apis.map(({ baseUrl }) => new PartnerClient(baseUrl, fixture));
  const registrations = partners.flatMap((partner) =>
    Array.from({ length: count }, () => partner.register(attendee(ticketId))),
  );
  return Promise.all(registrations);
}

/** Lets the cool-down pass: until then, registrations for the ticket are refused. */
async function sellAgain(fixture: Fixture, ticketId: number): Promise<void> {
  expect(codesOf(await registerAt(fixture, ticketId, 1))).toEqual(new Set(['90']));
  await clock.advance(LONGEST_COOL_DOWN_MS);
  expect(codesOf(await registerAt(fixture, ticketId, 1))).toEqual(new Set(['00']));
}

const codesOf = (answers: Answer[]) => new Set(answers.map(({ body }) => body.responseCode));

const linesWith = (text: string) => apis.map((api) => api.log().split(text).length - 1);

test('while a ticket is held, all others are sold; its own buyers are refused, and nothing of it is reserved', async () => {
  await startApis(2);
  const held = await holdTicket(given.database.db, stuckId);
  const refused = registerAt(given.gala, stuckId, BATCH_LIMIT);
  await held.waiters(apis.length);
  for (let round = 0; round < 3; round++) {
    const others = [registerAt(given.gala, otherId, 20), registerAt(ball, ballId, 20)];
    for (const answers of await Promise.all(others)) expect(codesOf(answers)).toEqual(new Set(['00']));
  }
  for (const answer of await refused) expectFailure(answer, '90', 503);
  await held.release();
  await sellAgain(given.gala, stuckId);
});

test('that a ticket is held is logged once, and that it is free again', async () => {
  await startApis(1);
  const held = await holdTicket(given.database.db, stuckId);
  expect(codesOf(await registerAt(given.gala, stuckId, 2 * BATCH_LIMIT))).toEqual(new Set(['90']));
  await waitUntil('the API knows', () => linesWith(HELD)[0] === 1);
  // While the ticket stays locked, no further line is logged.
  expect(codesOf(await registerAt(given.gala, stuckId, 3 * BATCH_LIMIT))).toEqual(new Set(['90']));
  expect(linesWith(HELD)).toEqual([1]);
  await held.release();
  await sellAgain(given.gala, stuckId);
  expect(linesWith(FREE)).toEqual([1]);
  expect(codesOf(await registerAt(given.gala, stuckId, 2))).toEqual(new Set(['00']));
  const stored = tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('serial')
    .where('ticket_id', '=', stuckId);
  expect(await stored.execute()).toHaveLength(3);
});

test('who names a held ticket of somebody else is answered that there is no such ticket', async () => {
  await startApis(1);
  const held = await holdTicket(given.database.db, stuckId);
  const refused = registerAt(given.gala, stuckId, 1);
  const foreign = registerAt(ball, stuckId, 4);
  await waitUntil('the API knows', () => linesWith(HELD)[0] === 1);
  for (const answers of [foreign, registerAt(ball, stuckId, 4)])
    expect(codesOf(await answers)).toEqual(new Set(['30']));
  expect(codesOf(await refused)).toEqual(new Set(['90']));
  await held.release();
});

test('several tickets may be held, each by somebody else, and one may be deleted meanwhile', async () => {
  await startApis(1);
  const [stuck, other] = [
    await holdTicket(given.database.db, stuckId),
    await holdTicket(given.database.db, otherId),
  ];
  const refused = [registerAt(given.gala, stuckId, 4), registerAt(given.gala, otherId, 4)];
  await waitUntil('the API knows', () => linesWith(HELD)[0] === 2);
  for (const answers of refused) expect(codesOf(await answers)).toEqual(new Set(['90']));
  expect(codesOf(await registerAt(ball, ballId, 4))).toEqual(new Set(['00']));
  await stuck.release();
  await other.delete();
  await sellAgain(given.gala, stuckId);
  expect(codesOf(await registerAt(given.gala, stuckId, 4))).toEqual(new Set(['00']));
  await waitUntil('there is no such ticket any more', async () =>
    (await registerAt(given.gala, otherId, 1)).every(({ body }) => body.responseCode === '30'),
  );
});

test('while a whole table is locked, Postgres gives batches up in time: they are refused, not unknown', async () => {
  await startApis(1);
  await using server = await given.database.openShard(given.gala.shardId);
  const rival = await server.startTransaction().execute();
  await lockRegistrations(rival, given.gala.shardId);
  const answers = await registerAt(given.gala, otherId, 1);
  await rival.rollback().execute();
  for (const answer of answers) expectFailure(answer, '90', 503);
  expect(codesOf(await registerAt(given.gala, otherId, 1))).toEqual(new Set(['00']));
});

/** Locks the registrations table of a shard. On Citus each shard has its own tables, and batches write to these. */
async function lockRegistrations(transaction: Database, shardId: number): Promise<void> {
  const isShared = inject('engine') === 'citus';
  if (isShared) await sql`set local citus.enable_manual_changes_to_shards = on`.execute(transaction);
  const name = isShared
    ? sql`'registrations_' || get_shard_id_for_distribution_column('registrations', ${shardId}::integer)`
    : sql`'registrations'`;
  const { rows } = await sql<{ name: string }>`select ${name} as name`.execute(transaction);
  await sql`lock table ${sql.table(rows[0]!.name)}`.execute(transaction);
}
