import { commitBatch, reconcile, type Reservation } from '@floodgate/registrations';
import { connect, type Database } from '@floodgate/database';
import { systemClock, type Clock } from '@floodgate/service/clock';
import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, expect, inject } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { refusePoison } from '../harness/poison.ts';
import { reservationOf } from '../harness/reservation.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { endLockWaiters, waitForLockWaiters } from '../harness/lock-waiters.ts';
import { ManualClock, settle } from '../harness/manual-clock.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

let proxy: TcpProxy;
/** Connected through the proxy. */
let pool: Database;
let committedBatches: string[];
let failures: string[];

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
  await refusePoison(given.database.db);
});

afterAll(async () => {
  await proxy.stop();
});

beforeEach(async () => {
  proxy.setMode('pass');
  proxy.replaceInAnswers(new Map());
  pool = openPool(proxy.through(given.database.url));
  committedBatches = [];
  failures = [];
});

afterEach(async () => {
  await pool.destroy();
  expect(await reconcile(given.database.db)).toEqual([]);
});

const openPool = (connectionString: string, timeoutMs = 10_000) =>
  connect({
    connectionString,
    applicationName: 'faults',
    maxConnections: 2,
    connectTimeoutMs: timeoutMs,
    statementTimeoutMs: timeoutMs,
  });

const commit = (
  reservations: Reservation[],
  db = pool,
  answerWithinMs = 10_000,
  clock: Clock = systemClock,
) =>
  commitBatch(
    {
      db,
      locked: { has: () => false, lock: () => {}, release: () => {} },
      isCluster: inject('engine') === 'citus',
      lockWithinMs: 0,
      retentionHours: 24,
      onCommitted: (_shardId, batchId) => committedBatches.push(batchId),
      onFailure: (_error, { failure }) => failures.push(failure),
      answerWithinMs,
      clock,
    },
    reservations,
  );

const reservation = (ticketId: number, differing: Partial<Reservation> = {}) =>
  reservationOf(given.gala, ticketId, differing);

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
const keyed = () => ({ idempotency: { key: randomUUID(), fingerprint: digest('the request') } });

const kinds = (outcomes: Awaited<ReturnType<typeof commit>>) => outcomes.map(({ kind }) => kind);

function storedRegistrations() {
  return tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code as passCode', 'full_name as fullName'])
    .where('event_id', '=', given.gala.eventId)
    .orderBy('serial')
    .execute();
}

/** Commits over a connection that is open already, and cuts off the answer of Postgres. */
async function commitWithCutAnswer(reservations: Reservation[]) {
  await sql`select 1`.execute(pool);
  proxy.setMode('cut-next-answer');
  const outcomes = await commit(reservations);
  expect(failures[0]).toBe('unknown');
  return outcomes;
}

/** Gives code that does not wait for the blocked connection enough time to run on the other one. */
async function takeTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await sql`select 1`.execute(pool).catch(() => {});
}

async function expectOneStored(
  outcomes: Awaited<ReturnType<typeof commit>>,
  replayed = false,
): Promise<void> {
  const stored = await storedRegistrations();
  expect(stored).toHaveLength(1);
  const { serial, passCode } = stored[0]!;
  expect(outcomes).toEqual([{ kind: 'registered', serial, passCode, replayed }]);
}

test.each([
  ['with', keyed()],
  ['without', {}],
])('a commit %s a key whose answer is cut off is found again, not repeated', async (_with, differing) => {
  const ticketId = await given.gala.addTicket();
  await expectOneStored(await commitWithCutAnswer([reservation(ticketId, differing)]));
  expect(committedBatches).toHaveLength(1);
});

test('where the answer is cut off, refused and granted reservations each get their own outcome', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 2 });
  const closedId = await given.gala.addTicket({ active: false });
  const names = ['first', 'second', 'too late', 'too late with a key'];
  const outcomes = await commitWithCutAnswer([
    reservation(2147483647),
    ...names.map((fullName, index) => reservation(ticketId, { fullName, ...(index % 2 && keyed()) })),
    reservation(closedId),
  ]);

  expect(kinds(outcomes)).toEqual([
    'no-such-ticket',
    'registered',
    'registered',
    'sold-out',
    'sold-out',
    'not-on-sale',
  ]);
  const stored = await storedRegistrations();
  expect(stored.map(({ fullName }) => fullName)).toEqual(['first', 'second']);
  expect(outcomes.slice(1, 3)).toMatchObject(stored.map(({ serial }) => ({ serial, replayed: false })));
  expect(committedBatches).toHaveLength(1);
});

test('where all were refused and the answer is cut off, all are refused', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 0 });
  const outcomes = await commitWithCutAnswer([reservation(ticketId), reservation(ticketId, keyed())]);
  expect(kinds(outcomes)).toEqual(['sold-out', 'sold-out']);
  expect(committedBatches).toEqual([]);
});

test('while Postgres is away nothing is reserved, and the answer is overloaded', async () => {
  const ticketId = await given.gala.addTicket();
  proxy.setMode('down');
  expect(kinds(await commit([reservation(ticketId), reservation(ticketId)]))).toEqual([
    'overloaded',
    'overloaded',
  ]);
  expect(failures).toEqual(['not-sent']);
  expect(await storedRegistrations()).toEqual([]);
});

test('a commit that stays unanswered is repeated until its time is over, then unknown, and a retry with its key finds it', async () => {
  const ticketId = await given.gala.addTicket();
  const clock = new ManualClock();
  const impatient = openPool(proxy.through(given.database.url), 500);
  const held = await holdTicket(given.database.db, ticketId);
  const request = reservation(ticketId, keyed());
  const outcomes = commit([request], impatient, 3_000, clock);
  await held.waiters(1);
  proxy.setMode('swallow-answers');
  await held.release();
  await waitUntil('the attempt and its repeat are lost', () => failures.length === 2);
  await clock.advance(50);
  await waitUntil('after a pause it is repeated again', () => failures.length === 3);
  await settle();
  clock.block(3_000);
  expect(kinds(await outcomes)).toEqual(['unknown']);
  expect(failures).toHaveLength(3);
  expect(failures[0]).toBe('unknown');
  expect(committedBatches).toEqual([]);

  proxy.setMode('pass');
  await expectOneStored(await commit([request]), true);
  await impatient.destroy();
});

// The severities that Postgres sends under another lc_messages. CHYBA is Czech. FATAL may become any word of
// the same length.
const LANGUAGES: [string, Map<string, string>][] = [
  ['English', new Map()],
  [
    'another language',
    new Map([
      ['SERROR\0', 'SCHYBA\0'],
      ['SFATAL\0', 'SOSUD!\0'],
    ]),
  ],
];

test.each(LANGUAGES)('a bad row fails alone, where Postgres speaks %s', async (_language, words) => {
  proxy.replaceInAnswers(words);
  const ticketId = await given.gala.addTicket();
  const names = Array.from({ length: 20 }, (_, index) => `guest ${index}`);
  names[7] = 'Poison';
  names[13] = 'N\0L';
  const outcomes = await commit(names.map((fullName) => reservation(ticketId, { fullName })));

  const isBad = (name: string) => name === 'Poison' || name === 'N\0L';
  expect(kinds(outcomes)).toEqual(names.map((name) => (isBad(name) ? 'failed' : 'registered')));
  const stored = await storedRegistrations();
  expect(stored.map(({ fullName }) => fullName)).toEqual(names.filter((name) => !isBad(name)));
  const ticket = given.database.db.selectFrom('tickets').select('taken').where('id', '=', ticketId);
  expect(await ticket.executeTakeFirst()).toEqual({ taken: 18 });
  expect(new Set(failures)).toEqual(new Set(['bad-value']));
});

test('a conflict that does not pass refuses its own row alone', async () => {
  const ticketId = await given.gala.addTicket();
  await sql`
    create function conflict() returns trigger language plpgsql as
      $$ begin raise exception 'conflict' using errcode = 'unique_violation'; end $$`.execute(
    given.database.db,
  );
  await sql`
    create trigger conflict before insert on registrations for each row
    when (new.full_name = 'Rival') execute function conflict()`.execute(given.database.db);
  const names = ['first', 'Rival', 'third'];
  const outcomes = await commit(names.map((fullName) => reservation(ticketId, { fullName })));
  await sql`drop trigger conflict on registrations`.execute(given.database.db);
  expect(kinds(outcomes)).toEqual(['registered', 'overloaded', 'registered']);
  expect((await storedRegistrations()).map(({ fullName }) => fullName)).toEqual(['first', 'third']);
  expect(new Set(failures)).toEqual(new Set(['conflict']));
});

test.each(LANGUAGES)(
  'an expired key can be used anew, where Postgres speaks %s',
  async (_language, words) => {
    proxy.replaceInAnswers(words);
    const request = reservation(await given.gala.addTicket(), keyed());
    const [first] = await commit([request]);
    await sql`update idempotency_keys set created_at = now() - interval '25 h'`.execute(given.database.db);
    const [second] = await commit([request]);
    expect(second).toMatchObject({ kind: 'registered', replayed: false });
    expect(second).not.toEqual(first);
    expect(failures).toEqual(['conflict']);
  },
);

test('an expired key that somebody else is at is waited for', async () => {
  const request = reservation(await given.gala.addTicket(), keyed());
  await commit([request]);
  await sql`update idempotency_keys set created_at = now() - interval '25 h'`.execute(given.database.db);
  const rival = await given.database.db.startTransaction().execute();
  await sql`select from idempotency_keys where shard_id = ${given.gala.shardId} for update`.execute(rival);
  const outcomes = commit([request]);
  await waitForLockWaiters(given.database.db, 1);
  await takeTurns();
  const meanwhile = [...failures];
  await rival.rollback().execute();
  expect(await outcomes).toMatchObject([{ kind: 'registered', replayed: false }]);
  expect(meanwhile).toEqual(['conflict']);
});

test('an expired key that cannot be deleted keeps nobody from an answer', async () => {
  const request = reservation(await given.gala.addTicket(), keyed());
  await commit([request]);
  await sql`update idempotency_keys set created_at = now() - interval '25 h'`.execute(given.database.db);
  await sql`
    create function keep() returns trigger language plpgsql as
      $$ begin raise exception 'kept'; end $$`.execute(given.database.db);
  await sql`create trigger keep before delete on idempotency_keys execute function keep()`.execute(
    given.database.db,
  );
  const outcomes = await commit([request, reservation(request.ticketId)]);
  await sql`drop trigger keep on idempotency_keys`.execute(given.database.db);
  expect(kinds(outcomes)).toEqual(['overloaded', 'registered']);
});

test.each(LANGUAGES)(
  'a connection that Postgres ends before the commit is replaced, and the seat is granted once: in %s',
  async (_language, words) => {
    proxy.replaceInAnswers(words);
    const ticketId = await given.gala.addTicket();
    const held = await holdTicket(given.database.db, ticketId);
    const outcomes = commit([reservation(ticketId)]);
    await held.waiters(1);
    await endLockWaiters(given.database.db);
    await waitUntil('the first attempt has failed', () => failures.length > 0);
    await held.waiters(1);
    await held.release();
    await expectOneStored(await outcomes);
    expect(failures).toEqual(['unknown']);
    expect(committedBatches).toHaveLength(1);
  },
);

test('what Postgres calls fatal is no refusal, even if a pooler in between keeps the connection', async () => {
  proxy.replaceInAnswers(new Map([['SERROR\0', 'SFATAL\0']]));
  const poison = reservation(await given.gala.addTicket(), { fullName: 'Poison' });
  expect(kinds(await commit([poison], pool, 0))).toEqual(['unknown']);
  expect(failures).toEqual(['unknown']);
});

test('a server that only reads is left for the one that new connections lead to', async () => {
  const ticketId = await given.gala.addTicket();
  const name = sql.id(new URL(given.database.url).pathname.slice(1));
  // The setting applies to connections that are opened after it, for their lifetime. Connections opened after
  // the reset can write.
  await sql`alter database ${name} set default_transaction_read_only = on`.execute(given.database.db);
  await sql`select 1`.execute(pool);
  await sql`alter database ${name} reset default_transaction_read_only`.execute(given.database.db);

  const two = [reservation(ticketId), reservation(ticketId)];
  expect(kinds(await commit(two))).toEqual(['overloaded', 'overloaded']);
  expect(failures).toEqual(['unavailable']);
  await expectOneStored(await commit([reservation(ticketId)]));
});

test('the time for a batch is one for all its halves: what is not attempted by then is not reserved', async () => {
  const ticketId = await given.gala.addTicket();
  const names = Array.from({ length: 8 }, () => 'Poison');
  const poisoned = names.map((fullName) => reservation(ticketId, { fullName }));
  expect(new Set(kinds(await commit(poisoned, pool, 0)))).toEqual(new Set(['overloaded']));
  expect(failures).toEqual(['bad-value']);
  expect(new Set(kinds(await commit(poisoned)))).toEqual(new Set(['failed']));
  expect(await storedRegistrations()).toEqual([]);
});

test.each([
  ['the last seat', 1],
  ['one seat of many', 1_000],
])(
  'an attempt that commits after its connection was lost takes %s for its caller',
  async (_what, capacity) => {
    const ticketId = await given.gala.addTicket({ capacity });
    const held = await holdTicket(given.database.db, ticketId);
    const outcomes = commit([reservation(ticketId)]);
    await held.waiters(1);
    proxy.setMode('down');
    proxy.setMode('pass');
    // The lost attempt still waits for the ticket. The next one waits for the lost one.
    await held.waiters(2);
    await held.release();
    await expectOneStored(await outcomes);
  },
);

test('an attempt that is in its commit when the connection is lost is waited for, and not repeated', async () => {
  const ticketId = await given.gala.addTicket();
  await sql`
    create function pause() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(1); return null; end $$`.execute(given.database.db);
  // A deferred trigger runs in the commit.
  await sql`
    create constraint trigger pause after insert on batches deferrable initially deferred for each row
    when (new.state = 'pending') execute function pause()`.execute(given.database.db);
  const rival = await given.database.db.startTransaction().execute();
  await sql`select pg_advisory_xact_lock(1)`.execute(rival);
  const outcomes = commit([reservation(ticketId)]);
  await waitForLockWaiters(given.database.db, 1);
  proxy.setMode('down');
  proxy.setMode('pass');
  await waitForLockWaiters(given.database.db, 2);
  await takeTurns();
  await rival.rollback().execute();
  await expectOneStored(await outcomes);
  expect(committedBatches).toHaveLength(1);
  await sql`drop trigger pause on batches`.execute(given.database.db);
});

test.each([
  ['the last seat', { capacity: 1 }, {}],
  ['the only seat of an attendee', {}, { attendeeDigest: digest('jane.doe@example.com') }],
  ['a keyed request', {}, keyed()],
])(
  'a commit followed by an outage is found when Postgres is back: %s',
  async (_what, settings, differing) => {
    const ticketId = await given.gala.addTicket(settings);
    const held = await holdTicket(given.database.db, ticketId);
    const outcomes = commit([reservation(ticketId, differing)]);
    await held.waiters(1);
    proxy.setMode('down');
    await held.release();
    await waitUntil('Postgres has committed', async () => (await storedRegistrations()).length > 0);
    proxy.setMode('pass');
    await expectOneStored(await outcomes);
    expect(committedBatches).toHaveLength(1);
  },
);

test.each([
  ['idempotency key', () => keyed(), 'registered'],
  ['attendee', () => ({ attendeeDigest: digest('jane.doe@example.com') }), 'duplicate'],
])('two processes with the same %s at once make one registration', async (_what, share, second) => {
  const ticketId = await given.gala.addTicket();
  const rival = openPool(given.database.url);
  const request = reservation(ticketId, share());
  const held = await holdTicket(given.database.db, ticketId);
  const both = [commit([request]), commit([request], rival)];
  // Both have read that the attendee is not registered yet.
  await held.waiters(2);
  await held.release();
  const outcomes = (await Promise.all(both)).flat();
  expect(kinds(outcomes).toSorted()).toEqual([second, 'registered'].toSorted());
  expect(failures).toContain('conflict');
  expect(await storedRegistrations()).toHaveLength(1);
  expect(committedBatches).toHaveLength(1);
  await rival.destroy();
});
