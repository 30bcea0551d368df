import { randomUUID } from 'node:crypto';
import { connect, statementFailure, type Database } from '@floodgate/database';
import {
  reconcile,
  reserveBatch,
  type Submission,
  type Outcome,
  type Reservation,
} from '@floodgate/registrations';
import { updateTicket } from '@floodgate/tickets';
import fc from 'fast-check';
import { sql, type RawBuilder } from 'kysely';
import { afterAll, beforeEach, expect } from 'vitest';
import { bookedIn } from '../harness/booked-in.ts';
import { databaseTest } from '../harness/database-test.ts';
import { anyBatch, createWorld, toSubmissions, type World } from '../harness/drawn-reservations.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { registrationsOfBatch } from '../harness/stored-batch.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

const POOLS = 6;
const BATCHES = 90;
const CAPACITIES = [0, 7, 40];

let pools: Database[];
let world: World;

test.beforeAll(async () => {
  const one = { connectionString: given.database.url, applicationName: 'tests', maxConnections: 1 };
  // Batches wait for their pool's only connection, on a slow machine for long.
  const options = { ...one, connectTimeoutMs: 30_000 };
  pools = Array.from({ length: POOLS }, () => connect({ ...options, prepareStatements: true }));
});

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()));
});

beforeEach(async () => {
  world = await createWorld(
    given.database.db,
    CAPACITIES.map((capacity) => ({
      event: 0,
      capacity,
      active: true,
      window: 'no window',
      allocations: [],
    })),
    'reject',
  );
});

const seatsOf = (outcomes: readonly Outcome[]): number[] =>
  outcomes.flatMap((outcome) => {
    if (outcome.kind === 'bulk') return seatsOf(outcome.outcomes);
    return outcome.kind === 'registered' ? [outcome.serial] : [];
  });

function batchOf(ticket: number, size: number): Reservation[] {
  const guest = {
    partner: 0,
    ticket,
    astray: null,
    key: null,
    fingerprint: 0,
    isHeld: false,
    gender: null,
    extraData1: null,
  };
  const drawn = Array.from({ length: size }, (_, attendee) => ({ ...guest, attendee }));
  return toSubmissions(world, drawn) as Reservation[];
}

async function takenOf(ticket: number): Promise<number> {
  const { id } = world.model.tickets[ticket]!;
  const row = await given.database.db
    .selectFrom('tickets')
    .select('taken')
    .where('id', '=', id)
    .executeTakeFirst();
  return row!.taken;
}

test('batches that race for the same tickets over several connections sell every seat once', async () => {
  const drawn = fc.sample(anyBatch, BATCHES).map((batch) => toSubmissions(world, batch));
  // Removes the idempotency keys, which would conflict between connections: another test covers that. The
  // rest stays random.
  const withoutKey = (submission: Submission): Submission => ({ ...submission, idempotency: null });
  const batches: Submission[][] = drawn.map((batch) => batch.map(withoutKey));
  // These batches sell every ticket out, whatever was drawn.
  batches.push(batchOf(1, 10), batchOf(2, 50));
  const ids = batches.map(() => randomUUID());
  const outcomes = await Promise.all(
    batches.map((batch, index) => reserveBatch(pools[index % POOLS]!, ids[index]!, batch)),
  );

  const serials = outcomes.flatMap(seatsOf);
  expect(serials).toHaveLength(7 + 40);
  expect(new Set(serials).size).toBe(serials.length);
  expect(await Promise.all(CAPACITIES.map((_, ticket) => takenOf(ticket)))).toEqual(CAPACITIES);
  expect(await reconcile(given.database.db)).toEqual([]);
  await expectOwnSerials(ids, outcomes);
});

test('batches whose serials lie among each other each find their own registrations', async () => {
  const ids = [randomUUID(), randomUUID()];
  // Two processes that take serials alternately: every tenth from 1001 on, and every tenth from 1002 on.
  const takeEveryTenth = (from: number) =>
    sql`alter sequence registrations_serial_seq increment by 10 restart with ${sql.lit(from)}`.execute(
      given.database.db,
    );
  await takeEveryTenth(1_001);
  const first = await reserveBatch(pools[1]!, ids[0]!, batchOf(2, 4));
  await takeEveryTenth(1_002);
  const second = await reserveBatch(pools[2]!, ids[1]!, batchOf(1, 3));
  await sql`alter sequence registrations_serial_seq increment by 1 restart with 2000`.execute(
    given.database.db,
  );
  const outcomes = [first, second];

  const [early, late] = outcomes.map(seatsOf);
  expect(early![0]).toBeLessThan(late![0]!);
  expect(early!.at(-1)).toBeGreaterThan(late!.at(-1)!);
  await expectOwnSerials(ids, outcomes);
});

/** Makes every statement that inserts such a row wait. */
async function pauseBefore(table: string, condition: RawBuilder<unknown>) {
  await sql`
    create or replace function pause() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(1); return new; end $$`.execute(given.database.db);
  await sql`
    create trigger pause before insert on ${sql.table(table)} for each row
    when (${condition}) execute function pause()`.execute(given.database.db);
  await sql`select pg_advisory_lock(1)`.execute(pools[0]!);
  return {
    /** Resolves when this many statements wait for this lock or for each other. */
    waiters: (count: number) => waitForLockWaiters(given.database.db, count),
    release: async () => {
      await sql`select pg_advisory_unlock(1)`.execute(pools[0]!);
      await sql`drop trigger pause on ${sql.table(table)}`.execute(given.database.db);
    },
  };
}

async function expectOwnSerials(ids: string[], outcomes: Outcome[][]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const expected = seatsOf(outcomes[index]!);
    const found = (await registrationsOfBatch(given.database.db, world.events[0].shardId, id)).map(
      ({ serial }) => serial,
    );
    expect(found.toSorted((a, b) => a - b)).toEqual(expected);
    const rows = await tablesOf(given.database.db)
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', id)
      .execute();
    expect(rows.map((row) => [row.first_serial, row.last_serial])).toEqual(
      expected.length > 0 ? [[expected[0], expected.at(-1)]] : [],
    );
  }
}

const [LOW, HIGH] = [1_000_001, 1_000_002];
const uuidOf = (number: number) => `00000000-0000-4000-8000-${number.toString().padStart(12, '0')}`;
const withKey = (key: string) => ({ idempotency: { key, fingerprint: uuidOf(0) } });

test.each<[string, string, string, (n: number) => number | string, (n: number) => Partial<Reservation>]>([
  ['attendees', 'registrations', 'attendee_digest', uuidOf, (n) => ({ attendeeDigest: uuidOf(n) })],
  ['idempotency keys', 'idempotency_keys', 'key', String, (n) => withKey(String(n))],
  [
    'key of several partners',
    'idempotency_keys',
    'partner_id',
    Number,
    (n) => ({ partnerId: n, ...withKey('one') }),
  ],
])(
  'two batches with the same %s in opposite order never wait for each other',
  async (_what, table, column, valueOf, share) => {
    const batch = (ticket: number, numbers: number[]) =>
      batchOf(ticket, 2).map((one, index) => ({ ...one, ...share(numbers[index]!) }));
    await sql`
      insert into partners (id, name) overriding system value values (${LOW}, 'low'), (${HIGH}, 'high')
      on conflict do nothing`.execute(given.database.db);
    // The first batch stops between the two rows.
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(pools[1]!);
    const isFirst = sql`pg_backend_pid() = ${sql.lit(rows[0]!.pid)}`;
    const pause = await pauseBefore(
      table,
      sql`${isFirst} and new.${sql.ref(column)} = ${sql.lit(valueOf(HIGH))}`,
    );
    const first = reserveBatch(pools[1]!, randomUUID(), batch(1, [LOW, HIGH]));
    await pause.waiters(1);
    const second = reserveBatch(pools[2]!, randomUUID(), batch(2, [HIGH, LOW])).catch(statementFailure);
    await pause.waiters(2);
    await pause.release();
    expect((await first).map(({ kind }) => kind)).toEqual(['registered', 'registered']);
    expect(await second).toBe('conflict');
  },
);

test('two batches with the same tickets in opposite order never wait for each other', async () => {
  const [low, high] = world.model.tickets.slice(1);
  // With so many tickets, Postgres looks up the tickets of a batch one by one, in the order in which the
  // batch names them.
  await sql`
    insert into tickets (shard_id, event_id, title, capacity, last_modified_by)
    select ${world.events[0].shardId}::integer, ${low!.eventId}::integer, 'Another', 1, 'test' from generate_series(1, 10000)`.execute(
    given.database.db,
  );
  await sql`
    insert into ticket_prices (shard_id, ticket_id, valid_from, price)
    select shard_id, id, '-infinity', price from tickets
    where shard_id = ${world.events[0].shardId} and title = 'Another'`.execute(given.database.db);
  await sql`analyze tickets`.execute(given.database.db);
  const batch = [...batchOf(1, 1), ...batchOf(2, 1)];
  expect(batch.map(({ ticketId }) => ticketId)).toEqual([low!.id, high!.id]);
  const held = await holdTicket(given.database.db, low!.id);
  const first = reserveBatch(pools[1]!, randomUUID(), batch);
  await held.waiters(1);
  const second = reserveBatch(pools[2]!, randomUUID(), batch.toReversed());
  await held.waiters(2);
  await held.release();
  const outcomes = await Promise.all([first, second]);
  expect(outcomes.flatMap(seatsOf)).toHaveLength(4);
});

test('of two batches with the same idempotency key at once, at most one commits its seat', async () => {
  for (let round = 0; round < 20; round++) {
    const [one] = batchOf(2, 1);
    const keyed = { ...one!, idempotency: { key: `round ${round}`, fingerprint: randomUUID() } };
    const attempts = await Promise.allSettled(
      pools.slice(0, 2).map((pool) => reserveBatch(pool, randomUUID(), [keyed])),
    );
    const refused = attempts.filter((attempt) => attempt.status === 'rejected');
    const outcomes = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? attempt.value : []));
    // The slower call either gets the first answer or fails with a conflict. After that, a retry always gets
    // the first answer.
    expect(refused.every(({ reason }) => statementFailure(reason) === 'conflict')).toBe(true);
    outcomes.push(...(await reserveBatch(pools[0]!, randomUUID(), [keyed])));
    expect(new Set(seatsOf(outcomes)).size).toBe(1);
    expect(await takenOf(2)).toBe(round + 1);
  }
});

test('the same batch id cannot commit twice', async () => {
  const id = randomUUID();
  const batch = batchOf(1, 3);
  await reserveBatch(pools[0]!, id, batch);
  const again = await reserveBatch(pools[1]!, id, batch).catch((error: unknown) => statementFailure(error));
  expect(again).toBe('conflict');
  expect(await takenOf(1)).toBe(3);
});

test('a value that Postgres refuses undoes the whole batch', async () => {
  const batch = batchOf(1, 3);
  batch[1]!.fullName = 'Jane\0Doe';
  const refused = await reserveBatch(pools[0]!, randomUUID(), batch).catch((error: unknown) =>
    statementFailure(error),
  );
  expect(refused).toBe('bad-value');
  expect(await takenOf(1)).toBe(0);
  expect(await reconcile(given.database.db)).toEqual([]);
});

test('no SQL, by whoever written, can sell a seat that is not there', async () => {
  await reserveBatch(pools[0]!, randomUUID(), batchOf(1, 5));
  const { id } = world.model.tickets[1]!;
  const refused = { code: '23514', constraint: 'no_seat_is_sold_twice' };
  const setTaken = (taken: number) =>
    sql`update tickets set taken = ${taken} where id = ${id}`.execute(given.database.db);
  await expect(setTaken(8)).rejects.toMatchObject(refused);
  await expect(setTaken(-1)).rejects.toMatchObject(refused);
  await expect(
    updateTicket(given.database.db, { shardId: world.events[0].shardId, id }, { capacity: 4 }, 'test'),
  ).rejects.toMatchObject(refused);
  expect(await takenOf(1)).toBe(5);
});

test('reconcile names the ticket and the batch whose books do not balance', async () => {
  const id = randomUUID();
  await reserveBatch(pools[0]!, id, batchOf(1, 2));
  const { id: ticketId } = world.model.tickets[1]!;
  await sql`delete from registrations where batch_id = ${id} and position = 1`.execute(given.database.db);
  expect(await reconcile(given.database.db)).toEqual([
    {
      subject: bookedIn(world.events[0].shardId, `batch ${id}`),
      problem: 'should have 2 registrations, but has 1',
    },
    {
      subject: bookedIn(world.events[0].shardId, `ticket ${ticketId}`),
      problem: 'taken is 2, but registrations hold 1 seats',
    },
  ]);
});

test.each([
  ['full name', { fullName: 'x'.repeat(1_021) }],
  ['e-mail address', { emailAddress: 'x'.repeat(255) }],
  ['free text', { extraData2: 'x'.repeat(4_001) }],
])('Postgres refuses what is longer than any field may be: %s', async (_, differing) => {
  const batch = batchOf(2, 2).map((one) => ({ ...one, ...differing }));
  const error = await reserveBatch(given.database.db, randomUUID(), batch).catch(
    (refusal: unknown) => refusal,
  );
  expect(error).toMatchObject({ code: '22001' });
  expect(statementFailure(error)).toBe('bad-value');
  expect(await takenOf(2)).toBe(0);
});
