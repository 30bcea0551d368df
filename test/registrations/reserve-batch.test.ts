import { randomUUID } from 'node:crypto';
import {
  changeRegistrations,
  expireHolds,
  forgetExpiredKeys,
  isBulk,
  reservationsOf,
  reserveBatch,
  type Submission,
  type Outcome,
} from '@floodgate/registrations';
import { listAllocations } from '@floodgate/tickets/allocations';
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, inject } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import {
  anyStep,
  anyTicket,
  createWorld,
  HOLD_SHARE_PERCENT,
  toCancellations,
  toNamed,
  toSubmissions,
  type DrawnCancellations,
  type DrawnNamed,
  type DrawnSubmission,
  type DrawnStep,
  type World,
} from '../harness/drawn-reservations.ts';
import { registrationsOfBatch } from '../harness/stored-batch.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = databaseTest({ own: 'draws operations, and compares whole tables' });

/** Runs per draw, and how often they are drawn while an outcome is missing. */
const [RUNS, MAX_DRAWS] = inject('tier') === 'gate' ? [50, 15] : [600, 2];

/** How often each outcome occurred. */
type Seen = Record<string, number>;

const count = (seen: Seen, name: string) => (seen[name] = (seen[name] ?? 0) + 1);

test('one statement does for a batch what a plain model does one reservation after the other', async () => {
  const seen: Seen = {};
  const property = fc.asyncProperty(
    fc.array(anyTicket, { minLength: 1, maxLength: 3 }),
    fc.array(anyStep, { minLength: 4, maxLength: 12 }),
    fc.constantFrom('reject' as const, 'reject' as const, 'return_existing' as const),
    async (tickets, steps, policy) => {
      const world = await createWorld(given.database.db, tickets, policy);
      for (const step of steps) await take(world, step, seen);
      await endHolds(world);
      await expireAllHolds(world, seen);
      await finalize(world);
      await compareTables(world);
      await compareAllocations(world);
      await compareJournal(world);
    },
  );
  // The test proves something only if every outcome occurred, both as a first answer and as a replay.
  const kinds = ['registered', 'no-such-ticket', 'not-on-sale', 'sold-out', 'duplicate'];
  const ofOne = [...kinds, ...kinds.map((kind) => `${kind}, replayed`), 'key-reused'];
  const ofBulk = [...ofOne, 'group-refused', 'group-refused, replayed'].map((kind) => `bulk, ${kind}`);
  const ofCancel = ['cancelled', 'too-late', 'null'].map((outcome) => `cancellation, ${outcome}`);
  const ofConfirm = ['confirmed', 'too-late', 'null'].map((outcome) => `confirmation, ${outcome}`);
  const others = [
    'existing',
    'bulk, existing',
    'cancelled',
    'expired',
    'hold-limit',
    'bulk, hold-limit',
    'allocation-sold',
    'bulk, allocation-sold',
  ];
  const wanted = [...ofOne, ...ofBulk, ...ofCancel, ...ofConfirm, ...others];
  const missing = () => wanted.filter((kind) => !seen[kind]);
  // A rare outcome can need more draws.
  for (let drawn = 0; drawn < MAX_DRAWS && missing().length > 0; drawn += 1)
    await fc.assert(property, { numRuns: RUNS });
  expect(missing()).toEqual([]);
});

async function take(world: World, step: DrawnStep, seen: Seen): Promise<void> {
  if (step === 'a day passes') await passADay(world);
  else if (step === 'finalize') await finalize(world);
  else if (step === 'holds end') await endHolds(world);
  else if (step === 'expire holds') await expireAllHolds(world, seen);
  else if (Array.isArray(step)) await reserveAndCompare(world, step, seen);
  else if ('confirm' in step) await confirm(world, step.confirm, seen);
  else await cancel(world, step, seen);
}

async function reserveAndCompare(world: World, drawn: readonly DrawnSubmission[], seen: Seen): Promise<void> {
  const submissions = toSubmissions(world, drawn);
  const batchId = randomUUID();
  await forgetExpiredKeys(given.database.db, submissions);
  const outcomes = await reserveBatch(given.database.db, batchId, submissions, {
    holdSharePercent: HOLD_SHARE_PERCENT,
  });
  expect(outcomes).toHaveLength(submissions.length);
  let position = 1;
  for (const [index, submission] of submissions.entries()) {
    const outcome = outcomes[index]!;
    expect(outcome).toEqual(withAnySerial(world.model.expectSubmission(submission)));
    world.model.recordSubmission(submission, outcome, batchId, position);
    position += reservationsOf([submission]).length;
    for (const kind of kindsOf(submission, outcome)) count(seen, kind);
  }
  await compareBatch(world, batchId);
  // A batch without a seat has stored only keys.
  if (!world.model.registrations.some((seat) => seat.batchId === batchId)) return;
  const again = { holdSharePercent: HOLD_SHARE_PERCENT, isRepeat: true };
  expect(await reserveBatch(given.database.db, batchId, submissions, again)).toEqual(outcomes);
}

/** Accepts any serial for a new seat, because Postgres chooses it. */
function withAnySerial(expected: ReturnType<World['model']['expectSubmission']>): object {
  if (expected.kind === 'bulk') return { ...expected, outcomes: expected.outcomes.map(withAnySerial) };
  const isNew = expected.kind === 'existing' && expected.serial === 0;
  if (isNew) return { ...expected, serial: expect.any(Number) as number };
  return expected.kind === 'registered' ? { serial: expect.any(Number) as number, ...expected } : expected;
}

function kindsOf(submission: Submission, outcome: Outcome): string[] {
  const name = (kind: string, isReplayed: boolean) => (isReplayed ? `${kind}, replayed` : kind);
  if (outcome.kind !== 'bulk')
    return [name(outcome.kind, 'replayed' in outcome && outcome.replayed)].map((kind) =>
      isBulk(submission) ? `bulk, ${kind}` : kind,
    );
  return outcome.outcomes.map(({ kind }) => `bulk, ${name(kind, outcome.replayed)}`);
}

/** The batch row exists if, and only if, the batch granted seats. It has the range of their serials. */
async function compareBatch({ model, events }: World, batchId: string): Promise<void> {
  const mine = model.registrations.filter((registration) => registration.batchId === batchId);
  // In insertion order: by attendee if attendees must be unique, otherwise by position.
  const serials = mine.map(({ serial }) => serial).toSorted((a, b) => a - b);
  expect(new Set(serials).size).toBe(serials.length);
  const batches = await tablesOf(given.database.db)
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', batchId)
    .execute();
  expect(batches.map((row) => [row.state, row.size, row.first_serial, row.last_serial])).toEqual(
    mine.length > 0 ? [['pending', mine.length, serials[0], serials.at(-1)]] : [],
  );
  // The relay leaves the batch to the queue for this long.
  for (const { relay_at, created_at } of batches) expect(Number(relay_at) - Number(created_at)).toBe(5_000);
  expect(await registrationsOfBatch(given.database.db, events[0].shardId, batchId)).toEqual(
    mine.map(({ position, serial, passCode }) => ({ position, serial, passCode })),
  );
}

async function compareTables({ model, events }: World): Promise<void> {
  const eventIds = eventIdsOf(events);
  const tickets = await given.database.db
    .selectFrom('tickets')
    .select(['id', 'taken'])
    .where('event_id', 'in', eventIds)
    .orderBy('id')
    .execute();
  expect(tickets).toEqual(model.tickets.map(({ id, taken }) => ({ id, taken })));
  const rows = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .selectAll()
    .where('event_id', 'in', eventIds)
    .orderBy('serial')
    .execute();
  const seats = model.registrations.toSorted((a, b) => a.serial - b.serial);
  // 'infinity' if the hold was confirmed after its batch was finalized.
  const stored = rows.map((row) => ({
    ...row,
    held_until: row.held_until instanceof Date ? row.held_until : null,
  }));
  expect(stored).toEqual(
    seats.map((seat) => ({
      shard_id: events[0].shardId,
      serial: seat.serial,
      batch_id: seat.batchId,
      position: seat.position,
      partner_id: seat.partnerId,
      event_id: seat.eventId,
      ticket_id: seat.ticketId,
      pass_code: seat.passCode,
      hold_id: seat.holdId,
      partner_reference: seat.partnerReference,
      replaced_by: null,
      seat: null,
      attendee_digest: seat.attendeeDigest,
      full_name: seat.fullName,
      email_address: seat.emailAddress,
      phone_number: seat.phoneNumber,
      gender: seat.gender,
      table_or_seat: seat.tableOrSeat,
      extra_data_1: seat.extraData1,
      extra_data_2: seat.extraData2,
      reserved_at: expect.any(Date) as Date,
      held_until: seat.held === 'no' ? null : (expect.any(Date) as Date),
      cancelled_at: seat.cancelled ? (expect.any(Date) as Date) : null,
    })),
  );
}

/** Each allocation has the number of the seats that its partner has taken. */
async function compareAllocations({ model }: World): Promise<void> {
  for (const { id, allocations } of model.tickets) {
    const stored = await listAllocations(given.database.db, model.registrations[0]?.shardId ?? 0, [id]);
    const takenBy = (partnerId: number) =>
      model.registrations.filter(
        (one) => one.ticketId === id && one.partnerId === partnerId && !one.cancelled,
      );
    for (const { partnerId, taken } of stored) expect(taken).toBe(takenBy(partnerId).length);
    const some = [...allocations.values()].filter(({ reserved, cap }) => reserved > 0 || cap !== null);
    if (model.registrations.length > 0) expect(stored).toHaveLength(some.length);
  }
}

/** The journal has one entry per change, in order, and the states of each ticket alternate. */
async function compareJournal({ model, events }: World): Promise<void> {
  const told: string[] = [];
  const news = new Map<number, string[]>();
  for (const { eventId, shardId } of events) {
    for (const { kind, serial, ticketId } of await journalOf(given.database.db, { shardId, eventId }))
      if (ticketId === null) told.push(`${serial} ${kind}`);
      else news.set(ticketId, [...(news.get(ticketId) ?? []), kind]);
  }
  const bySerial = (entries: string[]) => Map.groupBy(entries, (entry) => entry.split(' ')[0]);
  expect(bySerial(told)).toEqual(bySerial(model.journal));
  expect(told).toHaveLength(model.journal.length);
  for (const { id, capacity, taken } of model.tickets) {
    const kinds = news.get(id) ?? [];
    expect(kinds).toEqual(kinds.map((_, index) => (index % 2 === 0 ? 'sold_out' : 'reopened')));
    if (capacity > 0) expect(kinds.at(-1) === 'sold_out').toBe(taken === capacity);
  }
}

const eventIdsOf = (events: World['events']) => events.map(({ eventId }) => eventId);

async function cancel(world: World, drawn: DrawnCancellations, seen: Seen): Promise<void> {
  const cancellations = toCancellations(world, drawn);
  if (cancellations.length === 0) return;
  const { shardId } = world.events[0];
  const before = world.model.journal.length;
  // The model cancels one after the other, Postgres all together. A registration that is named twice is cancelled once.
  const expected = cancellations.map((cancellation) => world.model.cancel(cancellation));
  expect(await changeRegistrations(given.database.db, shardId, 'cancelled', cancellations)).toEqual(expected);
  for (const outcome of expected) count(seen, `cancellation, ${outcome}`);
  if (world.model.journal.length > before) count(seen, 'cancelled');
}

async function confirm(world: World, drawn: readonly DrawnNamed[], seen: Seen): Promise<void> {
  const named = toNamed(world, drawn);
  if (named.length === 0) return;
  const { shardId } = world.events[0];
  const expected = named.map((one) => world.model.confirm(one));
  expect(await changeRegistrations(given.database.db, shardId, 'confirmed', named)).toEqual(expected);
  for (const outcome of expected) count(seen, `confirmation, ${outcome}`);
}

/** Makes all holds expire. */
async function endHolds({ model, events }: World): Promise<void> {
  model.endHolds();
  await tablesOf(given.database.db)
    .updateTable('registrations')
    .set({ held_until: sql<Date>`now() - interval '1 s'` })
    .where('shard_id', '=', events[0].shardId)
    .where('event_id', 'in', eventIdsOf(events))
    .where('held_until', '<', sql<Date>`'infinity'`)
    .where('cancelled_at', 'is', null)
    .execute();
}

async function expireAllHolds({ model, events }: World, seen: Seen): Promise<void> {
  const expired = await expireHolds(given.database.db, events[0].shardId, 1_000);
  // An earlier run can have left holds in the shard.
  expect(expired).toBeGreaterThanOrEqual(model.expireHolds());
  if (expired > 0) count(seen, 'expired');
}

/** Finalizes all pending batches, as a worker does. */
async function finalize({ model, events }: World): Promise<void> {
  await finalizePending(given.database.db, events[0].shardId);
  model.finalize();
}

/** Makes all idempotency keys older than their lifetime of 24 hours. */
async function passADay({ model, events }: World): Promise<void> {
  model.forgetKeys();
  await tablesOf(given.database.db)
    .updateTable('idempotency_keys')
    .set({ created_at: sql<never>`now() - interval '24 h'` })
    .where('event_id', 'in', eventIdsOf(events))
    .execute();
}
