import { randomUUID } from 'node:crypto';
import { connect, statementFailure, type Database } from '@floodgate/database';
import { reconcile, reserveBatch, type Reservation, type Submission } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, afterEach, expect, inject } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { finalizePending } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';

const { test, given } = eventTest({ own: 'draws operations, and compares whole tables' });

// Repeats: batches that are sent again with their id, because the connection was lost before the answer.

/** Each call has its own connection. */
let pool: Database;

test.beforeAll(async () => {
  pool = connect({ connectionString: given.database.url, applicationName: 'repeats', maxConnections: 4 });
});
afterAll(async () => {
  await pool.destroy();
});
afterEach(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const reservation = (ticketId: number, differing: Partial<Reservation> = {}) =>
  reservationOf(given.gala, ticketId, differing);
const keyed = () => ({ idempotency: { key: randomUUID(), fingerprint: randomUUID() } });
const send = (id: string, submissions: readonly Submission[]) => reserveBatch(pool, id, submissions);
const repeat = (id: string, submissions: readonly Submission[]) =>
  reserveBatch(pool, id, submissions, { isRepeat: true });
const kinds = (outcomes: Awaited<ReturnType<typeof send>>) => outcomes.map(({ kind }) => kind);

async function taken(ticketId: number): Promise<number> {
  const ticket = given.database.db.selectFrom('tickets').select('taken').where('id', '=', ticketId);
  return (await ticket.executeTakeFirstOrThrow()).taken;
}

/** Runs the work while serials have gaps, as if several processes reserved at once. */
async function withGaps<Result>(work: () => Promise<Result>): Promise<Result> {
  // Citus refuses to alter a sequence.
  if (inject('engine') === 'citus') return work();
  await sql`alter sequence registrations_serial_seq increment by 3`.execute(given.database.db);
  const result = await work();
  await sql`alter sequence registrations_serial_seq increment by 1`.execute(given.database.db);
  return result;
}

test('a repeat after the commit has the answer of the first call, and reserves nothing', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 100 });
  const batch = [reservation(ticketId), reservation(ticketId, keyed()), reservation(ticketId)];
  const ids = [randomUUID(), randomUUID()];
  const first = [
    await send(ids[0]!, batch),
    await withGaps(() => send(ids[1]!, [reservation(ticketId), batch[0]!])),
  ];
  expect(await repeat(ids[0]!, batch)).toEqual(first[0]);
  await finalizePending(given.database.db, given.gala.shardId);
  expect(await repeat(ids[0]!, batch)).toEqual(first[0]);
  expect(kinds(first[1]!)).toEqual(['registered', 'registered']);
  expect(await taken(ticketId)).toBe(5);
});

test('a seat that was cancelled meanwhile is in the answer nevertheless', async () => {
  const ticketId = await given.gala.addTicket();
  const batch = [reservation(ticketId), reservation(ticketId), reservation(ticketId)];
  const id = randomUUID();
  const first = await withGaps(() => send(id, batch));
  const [{ serial, passCode }] = first as unknown as [{ serial: number; passCode: number }];
  const { shardId, partnerId, eventId } = given.gala;
  await sql`
    select change_registrations(${shardId}::integer, 0, 'cancelled', array[${serial}]::bigint[], array[${partnerId}]::integer[],
      array[${eventId}]::integer[], array[${passCode}]::bigint[], null::timestamptz[])`.execute(
    given.database.db,
  );
  expect(await repeat(id, batch)).toEqual(first);
  expect(await taken(ticketId)).toBe(2);
});

test('a repeat waits while the first call runs, and has its answer', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 1 });
  const batch = [reservation(ticketId), reservation(ticketId)];
  const id = randomUUID();
  const held = await holdTicket(given.database.db, ticketId);
  const first = send(id, batch);
  await held.waiters(1);
  const second = repeat(id, batch);
  await held.waiters(2);
  await held.release();
  expect(await second).toEqual(await first);
  expect(kinds(await first)).toEqual(['registered', 'sold-out']);
  expect(await taken(ticketId)).toBe(1);
});

test('a repeat after a rollback reserves', async () => {
  const ticketId = await given.gala.addTicket();
  const batch = [reservation(ticketId)];
  const id = randomUUID();
  const transaction = await pool.startTransaction().execute();
  await reserveBatch(transaction, id, batch);
  const second = repeat(id, batch);
  await transaction.rollback().execute();
  expect(kinds(await second)).toEqual(['registered']);
  expect(await taken(ticketId)).toBe(1);
});

test.each([
  ['with a seat', 1],
  ['without one', 0],
])('a first call that arrives after its repeat (%s) fails, and changes nothing', async (_what, capacity) => {
  const ticketId = await given.gala.addTicket({ capacity });
  const batch = [reservation(ticketId)];
  const id = randomUUID();
  const answer = await repeat(id, batch);
  await sql`update tickets set capacity = 10 where id = ${ticketId}`.execute(given.database.db);
  expect(await send(id, batch).catch(statementFailure)).toBe('conflict');
  expect(await repeat(id, batch)).toEqual(answer);
  expect(await taken(ticketId)).toBe(capacity);
  await finalizePending(given.database.db, given.gala.shardId);
});
