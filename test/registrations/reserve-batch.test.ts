import { randomUUID } from 'node:crypto';
import {
  findBatch,
  forgetExpiredKeys,
  isBulk,
  reservationsOf,
  reserveBatch,
  type Order,
  type Outcome,
} from '@floodgate/registrations';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import {
  anyStep,
  anyTicket,
  createWorld,
  toOrders,
  type DrawnOrder,
  type DrawnStep,
  type World,
} from '../harness/drawn-reservations.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

test(
  'one statement does for a batch what a plain model does one reservation after the other',
  { timeout: 120_000 },
  async () => {
    const seen: Record<string, number> = {};
    const property = fc.asyncProperty(
      fc.array(anyTicket, { minLength: 1, maxLength: 3 }),
      fc.array(anyStep, { minLength: 4, maxLength: 10 }),
      async (tickets, steps) => {
        const world = await createWorld(database.db, tickets);
        for (const step of steps) await take(world, step, seen);
        await compareTables(world);
      },
    );
    await fc.assert(property, { numRuns: 100 });
    // The draw is worth something only where every outcome came about, first-hand and replayed.
    const kinds = ['registered', 'no-such-ticket', 'not-on-sale', 'sold-out', 'duplicate'];
    const ofOne = [...kinds, ...kinds.map((kind) => `${kind}, replayed`), 'key-reused'];
    const ofBulk = [...ofOne, 'group-refused', 'group-refused, replayed'].map((kind) => `bulk, ${kind}`);
    const wanted = [...ofOne, ...ofBulk];
    expect(wanted.filter((kind) => !seen[kind])).toEqual([]);
  },
);

async function take(world: World, step: DrawnStep, seen: Record<string, number>): Promise<void> {
  if (step === 'a day passes') await passADay(world);
  else if (Array.isArray(step)) await reserveAndCompare(world, step, seen);
  else await cancel(world, step.cancel);
}

async function reserveAndCompare(
  world: World,
  drawn: readonly DrawnOrder[],
  seen: Record<string, number>,
): Promise<void> {
  const orders = toOrders(world, drawn);
  const batchId = randomUUID();
  await forgetExpiredKeys(database.db, orders);
  const outcomes = await reserveBatch(database.db, batchId, orders);
  expect(outcomes).toHaveLength(orders.length);
  let position = 1;
  for (const [index, order] of orders.entries()) {
    const outcome = outcomes[index]!;
    expect(outcome).toEqual(withAnySerial(world.model.expectOrder(order)));
    world.model.recordOrder(order, outcome, batchId, position);
    position += reservationsOf([order]).length;
    for (const kind of kindsOf(order, outcome)) seen[kind] = (seen[kind] ?? 0) + 1;
  }
  await compareBatch(world, batchId);
}

/** A new seat's serial is Postgres's to choose. */
function withAnySerial(expected: ReturnType<World['model']['expectOrder']>): object {
  if (expected.kind === 'bulk') return { ...expected, outcomes: expected.outcomes.map(withAnySerial) };
  return expected.kind === 'registered' ? { serial: expect.any(Number) as number, ...expected } : expected;
}

function kindsOf(order: Order, outcome: Outcome): string[] {
  const name = (kind: string, isReplayed: boolean) => (isReplayed ? `${kind}, replayed` : kind);
  if (outcome.kind !== 'bulk')
    return [name(outcome.kind, 'replayed' in outcome && outcome.replayed)].map((kind) =>
      isBulk(order) ? `bulk, ${kind}` : kind,
    );
  return outcome.outcomes.map(({ kind }) => `bulk, ${name(kind, outcome.replayed)}`);
}

/** The batch row is there if, and only if, it granted seats, and knows the range of their serials. */
async function compareBatch({ model, events }: World, batchId: string): Promise<void> {
  const mine = model.registrations.filter((registration) => registration.batchId === batchId);
  // In the order of insertion: by attendee where those must be unique, else by position.
  const serials = mine.map(({ serial }) => serial).toSorted((a, b) => a - b);
  expect(new Set(serials).size).toBe(serials.length);
  const batches = await database.db.selectFrom('batches').selectAll().where('id', '=', batchId).execute();
  expect(batches.map((row) => [row.state, row.size, row.first_serial, row.last_serial])).toEqual(
    mine.length > 0 ? [['pending', mine.length, serials[0], serials.at(-1)]] : [],
  );
  // For so long it is left to the queue.
  for (const { relay_at, created_at } of batches) expect(Number(relay_at) - Number(created_at)).toBe(5_000);
  const found = await findBatch(database.db, events[0].shardId, batchId);
  expect(found.toSorted((a, b) => a.position - b.position)).toEqual(
    mine.map(({ position, serial, passCode }) => ({ position, serial, passCode })),
  );
}

async function compareTables({ model, events }: World): Promise<void> {
  const eventIds = eventIdsOf(events);
  const tickets = await database.db
    .selectFrom('tickets')
    .select(['id', 'taken'])
    .where('event_id', 'in', eventIds)
    .orderBy('id')
    .execute();
  expect(tickets).toEqual(model.tickets.map(({ id, taken }) => ({ id, taken })));
  const rows = await database.db
    .selectFrom('registrations')
    .selectAll()
    .where('event_id', 'in', eventIds)
    .orderBy('serial')
    .execute();
  const seats = model.registrations.toSorted((a, b) => a.serial - b.serial);
  expect(rows).toEqual(
    seats.map((seat) => ({
      shard_id: events[0].shardId,
      serial: seat.serial,
      batch_id: seat.batchId,
      position: seat.position,
      partner_id: seat.partnerId,
      event_id: seat.eventId,
      ticket_id: seat.ticketId,
      pass_code: seat.passCode,
      attendee_digest: seat.attendeeDigest,
      full_name: seat.fullName,
      email_address: seat.emailAddress,
      phone_number: seat.phoneNumber,
      gender: seat.gender,
      table_or_seat: seat.tableOrSeat,
      extra_data_1: seat.extraData1,
      extra_data_2: seat.extraData2,
      reserved_at: expect.any(Date) as Date,
      cancelled_at: seat.cancelled ? (expect.any(Date) as Date) : null,
    })),
  );
}

const eventIdsOf = (events: World['events']) => events.map(({ eventId }) => eventId);

async function cancel({ model, events }: World, choice: number): Promise<void> {
  const held = model.registrations.filter(({ cancelled }) => !cancelled);
  const chosen = held[choice % held.length];
  if (!chosen) return;
  model.cancel(chosen);
  const { shardId } = events[0];
  await sql`
    update registrations set cancelled_at = now()
    where shard_id = ${shardId} and serial = ${chosen.serial}`.execute(database.db);
  await sql`
    update tickets set taken = taken - 1 where shard_id = ${shardId} and id = ${chosen.ticketId}`.execute(
    database.db,
  );
}

/** Ages what is remembered of idempotency keys past the 24 hours for which it counts. */
async function passADay({ model, events }: World): Promise<void> {
  model.forgetKeys();
  await database.db
    .updateTable('idempotency_keys')
    .set({ created_at: sql<never>`now() - interval '24 h'` })
    .where('event_id', 'in', eventIdsOf(events))
    .execute();
}
