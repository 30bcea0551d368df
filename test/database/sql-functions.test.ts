import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { perform, type Action } from '@floodgate/audit';
import { connect, HOUSE_PARTNER_ID, type Database, type ServiceName } from '@floodgate/database';
import { leaseDeliveries, queueDeliveries, recordOutcomes, type Delivery } from '@floodgate/deliveries';
import { revokeDeviceAction } from '@floodgate/door/actions';
import { findByTokens } from '@floodgate/door/devices';
import { createEnrolment } from '@floodgate/door/enrolment';
import { recordScans } from '@floodgate/door/scans';
import { grantEvent, listShards } from '@floodgate/events';
import {
  archiveEventAction,
  createEventAction,
  grantEventAction,
  moveEventAction,
  restoreEventAction,
  revokeEventAction,
  updateEventAction,
} from '@floodgate/events/actions';
import { leaseConsumers, readJournal, releaseCaughtUp, retryConsumer } from '@floodgate/journal';
import { createPartner } from '@floodgate/partners';
import { createPassSigner } from '@floodgate/passes';
import {
  changeRegistrations,
  compactHeldSeats,
  confirmBatches,
  createChangeGroups,
  expireHolds,
  failBatch,
  findRegistrations,
  passReferenceOf,
  reconcile,
  redriveBatches,
  replaceAttendee,
  reserveBatch,
  resetEvent,
  type Outcome,
  type Reservation,
  type Submission,
} from '@floodgate/registrations';
import { jobOperations } from '@floodgate/jobs/console';
import { switchOn } from '@floodgate/mail/actions';
import { findAttendees, indexAttendees } from '@floodgate/registrations/find';
import { guestOperations } from '@floodgate/registrations/console';
import { createHoldGroups, type ChangedHold, type HoldChange } from '@floodgate/registrations/change-holds';
import { findHolds, type HeldSeat } from '@floodgate/registrations/find-holds';
import { createLogger } from '@floodgate/service';
import {
  allocateTicketAction,
  resumeSalesAction,
  stopSalesAction,
  updateTicketAction,
} from '@floodgate/tickets/actions';
import { listAllocations } from '@floodgate/tickets/allocations';
import {
  findEntry,
  joinWaitingLists,
  leaveWaitingList,
  serveWaitingLists,
  toJoin,
} from '@floodgate/waiting-list';
import { recordDelivered } from '@floodgate/webhooks/deliver/attempts';
import type { Static, TObject } from '@sinclair/typebox';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, inject, onTestFinished } from 'vitest';
import { callerNamed } from '../harness/callers.ts';
import { addDevice, addGate, DoorDevice } from '../harness/door-device.ts';
import { eventTest } from '../harness/event-test.ts';
import { emptyTables } from '../harness/empty-tables.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { calledFunctions, countFunctionCalls } from '../harness/function-calls.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { waitForEndOfConnections } from '../harness/lock-waiters.ts';
import { roleOf, withRole } from '../harness/service-roles.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { addWebhook } from '../harness/webhooks.ts';
import { cancelledOf, runJobs } from '../jobs/running.ts';
import { changeSeats } from '../waiting-list/drawn-operations.ts';

const { test, given } = eventTest({
  own: 'it counts the calls of functions, and takes whatever is due in a shard',
});

// Each SQL function does on a Citus cluster what it does on one Postgres: it is called as the services call
// it, with their roles and prepared statements, and the test reads what it has stored. The rules themselves
// are tested by the folders of their capabilities.

const FUNCTIONS = readdirSync(path.resolve(import.meta.dirname, '../../packages/database/sql/functions')).map(
  (file) => path.basename(file, '.sql'),
);

let api: Database;
let worker: Database;
let delivery: Database;
let operator: Database;

test.beforeAll(async () => {
  await countFunctionCalls(given.database);
  [api, worker, delivery, operator] = (['api', 'worker', 'delivery', 'console'] as const).map(connectAs) as [
    Database,
    Database,
    Database,
    Database,
  ];
});

const connectAs = (service: ServiceName) =>
  connect({
    connectionString: withRole(roleOf(service), given.database.url),
    applicationName: `contract-${service}`,
    connectTimeoutMs: 60_000,
    maxConnections: 3,
    prepareStatements: true,
  });

const disconnect = () => Promise.all([api, worker, delivery, operator].map((pool) => pool.destroy()));
afterAll(disconnect);

// Reservations.

const reserve = (...submissions: Submission[]) => reserveBatch(api, randomUUID(), submissions);
const seat = (ticket = given.ticketId, differing: Partial<Reservation> = {}) =>
  reservationOf(given.gala, ticket, differing);
const seats = (count: number, ...input: Parameters<typeof seat>) =>
  Array.from({ length: count }, () => seat(...input));
const addressed = (emailAddress: string, differing: Partial<Reservation> = {}) =>
  seat(given.ticketId, { emailAddress, attendeeDigest: digestOf(emailAddress), ...differing });
const digestOf = (emailAddress: string) => Buffer.from(emailAddress.padEnd(16).slice(0, 16)).toString('hex');

const kindsOf = (outcomes: readonly Outcome[]) => outcomes.map(({ kind }) => kind);
/** Returns the serial of each registration, or 0. */
const serialsOf = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('serial' in outcome ? outcome.serial : 0));
/** Reserves seats that are all granted. Returns their serials. */
async function sell(...reservations: Reservation[]): Promise<number[]> {
  const outcomes = await reserve(...reservations);
  expect(kindsOf(outcomes)).toEqual(reservations.map(() => 'registered'));
  return serialsOf(outcomes);
}

const rowsOf = (serials: readonly number[], of: Fixture = given.gala) =>
  findRegistrations(
    api,
    serials.map((serial) => ({ ...of, serial })),
  );
const statesOf = async (...args: Parameters<typeof rowsOf>) =>
  (await rowsOf(...args)).map((row) => row?.state);
const { passCode } = reservationOf({ shardId: 0, partnerId: 0, eventId: 0 }, 0);
const change = (to: 'cancelled' | 'confirmed', serials: readonly number[], deadline: Date | null = null) =>
  changeRegistrations(
    api,
    given.gala.shardId,
    to,
    serials.map((serial) => ({ ...given.gala, serial, passCode, deadline })),
    { holdSharePercent: 20 },
  );

const takenOf = async (...tickets: number[]) => {
  const rows = await tablesOf(given.db)
    .selectFrom('tickets')
    .select(['id', 'taken'])
    .where('shard_id', '=', given.gala.shardId)
    .execute();
  return tickets.map((ticket) => rows.find(({ id }) => id === ticket)?.taken);
};

// The journal.

const finalize = ({ shardId } = given.gala) => finalizePending(worker, shardId);
/** Finalizes, and returns the kinds of all entries of the event in order. */
async function journal(of = given.gala): Promise<string[]> {
  await finalize(of);
  return (await journalOf(api, of)).map(({ kind }) => kind);
}

test.override('ticket', { capacity: 10 });

describe('reserve_batch', () => {
  test('grants the seats of several tickets by position while they last', async () => {
    const few = await given.gala.addTicket({ capacity: 2 });
    const outcomes = await reserve(...seats(3, few), ...seats(2), seat(few));
    expect(kindsOf(outcomes)).toEqual([
      'registered',
      'registered',
      'sold-out',
      'registered',
      'registered',
      'sold-out',
    ]);
    expect(await takenOf(few, given.ticketId)).toEqual([2, 2]);
    expect(await journal()).toEqual(['confirmed', 'confirmed', 'confirmed', 'confirmed', 'sold_out']);
    expect(await statesOf(serialsOf(outcomes).filter(Boolean))).toEqual(Array(4).fill('confirmed'));
  });

  test('grants no seat of a ticket of another event, or of one that is off sale', async () => {
    const other = await createNeighbour();
    const [foreign, closed] = [await other.addTicket(), await given.gala.addTicket({ active: false })];
    const ended = await given.gala.addTicket({ saleEndsAt: new Date(Date.now() - 60_000) });
    const outcomes = await reserve(seat(foreign), seat(closed), seat(ended), seat());
    expect(kindsOf(outcomes)).toEqual(['no-such-ticket', 'not-on-sale', 'not-on-sale', 'registered']);
    expect(await takenOf(foreign, closed, ended, given.ticketId)).toEqual([0, 0, 0, 1]);
  });

  test('grants all seats of a bulk call in mode "all", or none', async () => {
    const bulk = (count: number, isAll: boolean) => ({
      reservations: seats(count),
      isAll,
      idempotency: null,
      batchId: undefined,
    });
    const outcomes = await reserve(bulk(11, true), seat(), bulk(12, false));
    const ofBulk = (index: number) => {
      const outcome = outcomes[index]!;
      return outcome.kind === 'bulk' ? kindsOf(outcome.outcomes) : [];
    };
    expect(ofBulk(0)).toEqual([...Array<string>(10).fill('group-refused'), 'sold-out']);
    expect(outcomes[1]).toMatchObject({ kind: 'registered' });
    expect(ofBulk(2)).toEqual([...Array<string>(9).fill('registered'), ...Array<string>(3).fill('sold-out')]);
    expect(await takenOf(given.ticketId)).toEqual([10]);
  });

  test('answers a repeated batch as the first time, and keeps a late first call from a second seat', async () => {
    const [committed, lost] = [randomUUID(), randomUUID()];
    const wanted = [...seats(11), seat(await given.gala.addTicket())];
    const first = await reserveBatch(api, committed, wanted);
    expect(await reserveBatch(api, committed, wanted, { isRepeat: true })).toEqual(first);
    expect(kindsOf(await reserveBatch(api, lost, [seat()], { isRepeat: true }))).toEqual(['sold-out']);
    await expect(reserveBatch(api, lost, [seat(wanted[11]!.ticketId)])).rejects.toMatchObject({
      code: '23505',
    });
    expect(await takenOf(given.ticketId, wanted[11]!.ticketId)).toEqual([10, 1]);
  });

  test('answers an idempotency key as the first time, and refuses it for another request', async () => {
    const keyed = (fingerprint: string) =>
      seat(given.ticketId, { idempotency: { key: 'once', fingerprint } });
    const [same, other] = [randomUUID(), randomUUID()];
    const [first] = await reserve(keyed(same));
    expect(await reserve(seat(), keyed(same))).toMatchObject([
      { kind: 'registered', replayed: false },
      { ...first, replayed: true },
    ]);
    expect(kindsOf(await reserve(keyed(other)))).toEqual(['key-reused']);
    expect(await takenOf(given.ticketId)).toEqual([2]);
  });

  test.for([
    ['reject', false, 'duplicate'],
    ['return_existing', true, 'existing'],
  ] as const)('with the duplicate policy %s', async ([duplicatePolicy, returnsExisting, second]) => {
    await given.useEvent({ duplicatePolicy }, { capacity: 10 });
    const jane = () => addressed('jane@example.com', { returnsExisting });
    const joe = () => addressed('joe@example.com', { returnsExisting });
    const first = await reserve(jane(), joe(), jane());
    expect(kindsOf(first)).toEqual(['registered', 'registered', second]);
    const later = await reserve(joe(), addressed('ann@example.com', { returnsExisting }));
    expect(kindsOf(later)).toEqual([second, 'registered']);
    if (returnsExisting) expect(serialsOf([first[2]!, later[0]!])).toEqual(serialsOf(first).slice(0, 2));
    expect(await takenOf(given.ticketId)).toEqual([3]);
  });

  test('keeps the seats of an allocation for its partner, up to its cap', async () => {
    const other = await addSeller();
    const allocation = { ticketId: given.ticketId, partnerId: other.partnerId, reserved: 4, cap: 5 };
    await perform(given.db, allocateTicketAction, allocation, 'tests');
    const theirs = (count: number) =>
      Array.from({ length: count }, () => reservationOf(other, given.ticketId));
    const outcomes = await reserve(...seats(7), ...theirs(6));
    expect(kindsOf(outcomes)).toEqual([
      ...Array<string>(6).fill('registered'),
      'sold-out',
      ...Array<string>(4).fill('registered'),
      'sold-out',
      'sold-out',
    ]);
    // A cancelled seat that was not reserved is for everybody.
    expect(await change('cancelled', serialsOf(outcomes).slice(0, 3))).toEqual(Array(3).fill('cancelled'));
    expect(kindsOf(await reserve(...theirs(2), ...seats(3)))).toEqual([
      'registered',
      'allocation-sold',
      'registered',
      'registered',
      'sold-out',
    ]);
    const allocated = () => listAllocations(api, given.gala.shardId, [given.ticketId]);
    expect(await allocated()).toMatchObject([{ taken: 5, unsold: 0 }]);
    const named = serialsOf(outcomes.slice(7, 9)).map((serial) => ({ ...other, serial, passCode }));
    await changeRegistrations(api, given.gala.shardId, 'cancelled', named);
    expect(await allocated()).toMatchObject([{ taken: 3, unsold: 1 }]);
  });

  test('grants a partner no more held seats than its share', async () => {
    const held = (count: number) => seats(count, given.ticketId, { holdSeconds: 600 });
    const reserveHeld = async (count: number) =>
      kindsOf(await reserveBatch(api, randomUUID(), held(count), { holdSharePercent: 50 }));
    expect(await reserveHeld(3)).toEqual(['registered', 'registered', 'registered']);
    expect(await reserveHeld(3)).toEqual(['registered', 'registered', 'hold-limit']);
    expect(await takenOf(given.ticketId)).toEqual([5]);
  });

  test('waits for a locked ticket; of two batches one gets the last seats', async () => {
    await given.useTicket({ capacity: 3 });
    const held = await holdTicket(given.db, given.ticketId);
    const batches = [reserve(...seats(2)), reserve(...seats(2))];
    await held.waiters(2);
    await held.release();
    const kinds = (await Promise.all(batches)).flatMap(kindsOf);
    expect(kinds.toSorted()).toEqual(['registered', 'registered', 'registered', 'sold-out']);
    expect(await takenOf(given.ticketId)).toEqual([3]);
  });
});

describe('reserve_guests', () => {
  const importGuests = async (csv: string, dryRun = false) => {
    const input = { eventId: given.gala.eventId, ticketId: given.ticketId, csv, dryRun };
    const { rows } = await guestOperations.guestImport.run(operator, input, callerNamed('test'));
    return rows.map(({ outcome }) => outcome);
  };
  const listOf = (...names: string[]) =>
    ['name,email', ...names.map((name) => `${name},${name}@example.com`)].join('\n');

  test('reserves for the house partner by the rules of all, with the role of the console', async () => {
    await given.useEvent({ duplicatePolicy: 'reject' }, { capacity: 4, saleEndsAt: new Date(0) });
    const csv = listOf('ann', 'ben', 'cleo');
    expect(await importGuests(csv)).toEqual(['registered', 'registered', 'registered']);
    expect(await importGuests(csv)).toEqual(Array(3).fill('already-registered'));
    expect(
      await importGuests('name,email\nAnna,ann@example.com\nDan,dan@example.com\nEve,eve@example.com'),
    ).toEqual(['refused', 'registered', 'refused']);
    expect(await takenOf(given.ticketId)).toEqual([4]);
    const stored = tablesOf(given.db)
      .selectFrom('registrations')
      .select('partner_id')
      .where('shard_id', '=', given.gala.shardId)
      .where('event_id', '=', given.gala.eventId);
    const rows = await stored.execute();
    expect(rows.map(({ partner_id: partnerId }) => partnerId)).toEqual(Array(4).fill(HOUSE_PARTNER_ID));
    expect((await journal()).toSorted()).toEqual([...Array<string>(4).fill('confirmed'), 'sold_out']);
  });

  test('stores nothing in a preview, which counts the seats of the guests before', async () => {
    await given.useTicket({ capacity: 1_000 });
    const allocation = { ticketId: given.ticketId, partnerId: HOUSE_PARTNER_ID, reserved: 2, cap: 501 };
    await perform(given.db, allocateTicketAction, allocation, 'tests');
    // A call has at most 500 rows.
    const outcomes = await importGuests(listOf(...Array.from({ length: 503 }, (_, n) => `guest-${n}`)), true);
    expect(outcomes.slice(499)).toEqual(['would-register', 'would-register', 'refused', 'refused']);
    expect(await takenOf(given.ticketId)).toEqual([0]);
    expect(await listAllocations(api, given.gala.shardId, [given.ticketId])).toMatchObject([{ taken: 0 }]);
    expect(await journal()).toEqual([]);
  });
});

test('prepared statements reserve, finalize and cancel in two shards alternately, each on the server of its shard', async () => {
  const events = [given.gala, await createElsewhere()];
  const tickets = [given.ticketId, await events[1]!.addTicket()];
  // Postgres can use a generic plan from the sixth execution on.
  const serials: number[][] = [[], []];
  for (let round = 0; round < 8; round += 1)
    for (const [index, event] of events.entries()) {
      const batchId = randomUUID();
      const { shardId } = event;
      const [serial] = serialsOf(await reserveBatch(api, batchId, [reservationOf(event, tickets[index]!)]));
      serials[index]!.push(serial!);
      await confirmBatches(worker, { shardId, batchIds: [batchId] });
      expect(await statesOf([serial!], event)).toEqual(['confirmed']);
      const named = { ...event, serial: serial!, passCode };
      expect(await changeRegistrations(api, shardId, 'cancelled', [named])).toEqual(['cancelled']);
    }
  for (const [index, event] of events.entries()) {
    const expected = ['cancelled', 'confirmed'].flatMap((kind) => Array<string>(8).fill(kind));
    expect((await journal(event)).toSorted()).toEqual(expected);
    // Each server numbers its own registrations.
    const first = (await groupOf(event.shardId)) * 2 ** 48;
    expect(serials[index]!.every((serial) => serial >= first && serial < first + 2 ** 48)).toBe(true);
  }
});

describe('finalize_batches', () => {
  test('confirms batches of several partners and of several events, each in its own journal', async () => {
    const [other, neighbour] = [await addSeller(), await createNeighbour()];
    const there = reservationOf(neighbour, await neighbour.addTicket());
    const theirs = reservationOf(other, given.ticketId);
    const batches = [
      [seat(), theirs, seat()],
      [there, seat(), there],
      [theirs, theirs],
    ].map((reservations) => ({ batchId: randomUUID(), reservations }));
    const serials = [];
    for (const { batchId, reservations } of batches)
      serials.push(serialsOf(await reserveBatch(api, batchId, reservations)));
    const batchIds = batches.map(({ batchId }) => batchId);
    for (let call = 0; call < 2; call += 1)
      await confirmBatches(worker, { shardId: given.gala.shardId, batchIds });
    const read = async (of: Fixture) => {
      const page = await readJournal(api, of, 0, 100);
      return typeof page === 'string'
        ? []
        : page.entries.map(({ serial }) => serial!).toSorted((a, b) => a - b);
    };
    expect(await read(given.gala)).toEqual([serials[0]![0], serials[0]![2], serials[1]![1]]);
    expect(await read(other)).toEqual([serials[0]![1], ...serials[2]!]);
    expect(await read(neighbour)).toEqual([serials[1]![0], serials[1]![2]]);
  });

  test('fails a batch, which keeps its seat, and confirms it when it is redriven', async () => {
    const batchId = randomUUID();
    const { shardId } = given.gala;
    const serials = serialsOf(await reserveBatch(api, batchId, seats(2)));
    expect(await failBatch(worker, shardId, batchId, 'P0001')).toBe(true);
    expect(await failBatch(worker, shardId, batchId, 'P0001')).toBe(false);
    expect(await statesOf(serials)).toEqual(['failed', 'failed']);
    expect(await redriveBatches(given.db, { shardId, limit: 10 })).toEqual([batchId]);
    expect(await journal()).toEqual(['failed', 'failed', 'confirmed', 'confirmed']);
    expect(await takenOf(given.ticketId)).toEqual([2]);
  });
});

describe('change_registrations', () => {
  test('confirms a held seat, which only then gets into the journal', async () => {
    const serials = await sell(...seats(2, given.ticketId, { holdSeconds: 600 }), seat());
    expect(await journal()).toEqual(['confirmed']);
    expect(await statesOf(serials)).toEqual(['held', 'held', 'confirmed']);
    expect(await change('confirmed', [serials[0]!])).toEqual(['confirmed']);
    expect(await change('confirmed', serials)).toEqual(['confirmed', 'confirmed', 'confirmed']);
    expect(await journal()).toEqual(['confirmed', 'confirmed', 'confirmed']);
    expect(await statesOf(serials)).toEqual(['confirmed', 'confirmed', 'confirmed']);
    expect(await heldSeats()).toBe(0);
  });

  test('frees a cancelled seat once, before and after its batch is finalized', async () => {
    await given.useTicket({ capacity: 3 });
    const serials = await sell(...seats(3));
    expect(await change('cancelled', [serials[0]!])).toEqual(['cancelled']);
    await finalize();
    expect(await change('cancelled', serials.slice(0, 2))).toEqual(['cancelled', 'cancelled']);
    expect(await takenOf(given.ticketId)).toEqual([1]);
    expect(await journal()).toEqual(['confirmed', 'confirmed', 'cancelled', 'cancelled']);
    expect(await statesOf(serials)).toEqual(['cancelled', 'cancelled', 'confirmed']);
    await sell(...seats(2));
    expect((await journal()).slice(4)).toEqual(['confirmed', 'confirmed', 'sold_out']);
    expect(await change('cancelled', [serials[2]!])).toEqual(['cancelled']);
    expect((await journal()).slice(7)).toEqual(['cancelled', 'reopened']);
  });

  test('changes nothing after the deadline, nor without the pass code', async () => {
    const serials = await sell(seat());
    const deadline = new Date(Date.now() - 60_000);
    expect(await change('cancelled', serials, deadline)).toEqual(['too-late']);
    const guessed = { ...given.gala, serial: serials[0]!, passCode: passCode + 1 };
    expect(await changeRegistrations(api, given.gala.shardId, 'cancelled', [guessed])).toEqual([null]);
    expect(await takenOf(given.ticketId)).toEqual([1]);
  });
});

test('replace_attendee gives the seat to another attendee, once', async () => {
  const [old] = await sell(addressed('jane@example.com'), addressed('joe@example.com'));
  const replace = (emailAddress: string) => {
    const attendee = { fullName: 'Ann Doe', emailAddress };
    const named = { ...given.gala, serial: old!, passCode, attendee, attendeeDigest: digestOf(emailAddress) };
    return replaceAttendee(api, given.gala.shardId, named);
  };
  expect((await replace('joe@example.com')).replaced).toBe('duplicate');
  const { replaced } = await replace('ann@example.com');
  expect((await replace('ann@example.com')).replaced).toEqual(replaced);
  expect((await replace('eve@example.com')).replaced).toBe('too-late');
  expect(await takenOf(given.ticketId)).toEqual([2]);
  expect((await journal()).toSorted()).toEqual(['cancelled', 'confirmed', 'confirmed']);
  expect(await statesOf([old!, (replaced as { serial: number }).serial])).toEqual(['cancelled', 'confirmed']);
});

// Holds.

const groups = () => ({
  db: api,
  log: createLogger('api', 'silent'),
  isCluster: inject('engine') === 'citus',
  groupLimit: 500,
  waitingLimit: 10_000,
  answerWithinMs: 60_000,
  lockWithinMs: 15_000,
  onCommitted: () => {},
});
/** A seat that the change itself has confirmed is not in the journal yet, so its answer says that it is reserved. */
const beforeJournal = ({ state, ...heldSeat }: HeldSeat) => ({
  ...heldSeat,
  state: state === 'confirmed' ? 'reserved' : state,
});

/** Changes holds. Returns the outcomes. Expects each hold in the answers as it is read afterwards. */
async function changeHolds(to: HoldChange, ...holds: ChangedHold[]) {
  const group = createHoldGroups({ ...groups(), holdLimitSeconds: 1_800 }, to);
  const outcomes = await group.commit(holds, given.gala.shardId);
  const stored = await findHolds(
    api,
    holds.map(({ holdId }) => ({ ...given.gala, holdId })),
  );
  return outcomes.map((outcome, index) => {
    if (typeof outcome === 'string') return outcome;
    expect(stored[index]!.seats.map(beforeJournal)).toMatchObject(outcome.hold.seats.map(beforeJournal));
    return outcome.kind;
  });
}

/** Holds seats without attendees. */
async function hold(...tickets: number[]) {
  const holdId = randomUUID();
  const nobody = { fullName: null, emailAddress: null, holdSeconds: 600, holdId };
  const serials = await sell(...tickets.map((ticket) => seat(ticket, nobody)));
  return { holdId, serials, seats: serials.map((serial) => ({ serial })) };
}
const confirming = (
  { holdId, serials }: { holdId: string; serials: number[] },
  ...addresses: string[]
): ChangedHold => ({
  holdId,
  seats: serials.map((serial, index) => {
    const emailAddress = addresses[index]!;
    return {
      serial,
      attendee: { fullName: 'Jane Doe', emailAddress },
      attendeeDigest: digestOf(emailAddress),
    };
  }),
});
const heldRows = async () => {
  const { rows } = await sql<{ rows: number }>`
    select count(*)::integer as rows from held_seats
    where shard_id = ${given.gala.shardId} and partner_id = ${given.gala.partnerId}`.execute(given.db);
  return rows[0]!.rows;
};
const heldSeats = async () => {
  const { rows } = await sql<{ seats: number }>`
    select coalesce(sum(seats), 0)::integer as seats from held_seats
    where shard_id = ${given.gala.shardId} and partner_id = ${given.gala.partnerId}`.execute(given.db);
  return rows[0]!.seats;
};

test('compact_held_seats leaves one row for each ticket and partner, and none after the last hold', async () => {
  const [first, second] = [await hold(given.ticketId, given.ticketId), await hold(given.ticketId)];
  expect(await changeHolds('confirmed', confirming(first, 'a@example.com', 'b@example.com'))).toEqual([
    'confirmed',
  ]);
  expect([await heldRows(), await heldSeats()]).toEqual([2, 1]);
  expect(await compactHeldSeats(worker, given.gala.shardId, 1_000)).toBeGreaterThan(0);
  expect([await heldRows(), await heldSeats()]).toEqual([1, 1]);
  // A locked ticket is skipped.
  expect(await changeHolds('released', { holdId: second.holdId, seats: second.seats })).toEqual(['released']);
  const held = await holdTicket(given.db, given.ticketId);
  await compactHeldSeats(worker, given.gala.shardId, 1_000);
  expect(await heldRows()).toBe(2);
  await held.release();
  await compactHeldSeats(worker, given.gala.shardId, 1_000);
  expect([await heldRows(), await heldSeats()]).toEqual([0, 0]);
});

test('the console creates, changes, archives and opens events, and stops their sales', async () => {
  const act = <Input extends TObject, Result>(action: Action<Input, Result>, input: Static<Input>) =>
    perform(operator, action, input, 'tests');
  const settings = { passPrefix: 'NEW', duplicatePolicy: 'allow' as const };
  const { id: eventId } = await act(createEventAction, { name: 'New', ...settings });
  expect(await act(updateEventAction, { eventId, name: 'Newer' })).toMatchObject({ name: 'Newer' });
  await act(archiveEventAction, { eventId });
  await act(restoreEventAction, { eventId });
  const access = { eventId, partnerId: given.gala.partnerId };
  expect(await act(grantEventAction, access)).toMatchObject({ granted: true });
  expect(await act(revokeEventAction, access)).toMatchObject({ granted: false });
  const sale = { eventId: given.gala.eventId };
  await hold(given.ticketId);
  const stopped = await act(stopSalesAction, { ...sale, withHolds: true });
  expect(stopped).toMatchObject({
    tickets: expect.arrayContaining([given.ticketId]) as unknown,
    endedHolds: 1,
  });
  expect((await act(resumeSalesAction, sale)).tickets).toEqual(stopped.tickets);
  expect(await expireHolds(worker, given.gala.shardId, 100)).toBe(1);
});

test('the console ends the holds of a ticket, and no others', async () => {
  const other = await given.gala.addTicket();
  const [ended, kept] = [await hold(given.ticketId), await hold(other)];
  await perform(
    operator,
    updateTicketAction,
    { ticketId: given.ticketId, active: false, withHolds: true },
    'tests',
  );
  expect(await changeHolds('confirmed', confirming(ended, 'a@example.com'))).toEqual(['too-late']);
  expect(await changeHolds('confirmed', confirming(kept, 'b@example.com'))).toEqual(['confirmed']);
  expect(await expireHolds(worker, given.gala.shardId, 100)).toBe(1);
});

describe('change_and_read_holds', () => {
  test('confirms holds with their attendees, each completely or not at all', async () => {
    const other = await given.gala.addTicket();
    const [whole, twice] = [await hold(given.ticketId, other, given.ticketId), await hold(given.ticketId)];
    const basket = confirming(whole, 'a@example.com', 'b@example.com', 'c@example.com');
    await sell(addressed('d@example.com'));
    expect(await changeHolds('confirmed', basket, confirming(twice, 'd@example.com'))).toEqual([
      'confirmed',
      'duplicate',
    ]);
    expect(await changeHolds('confirmed', basket)).toEqual(['confirmed']);
    expect(await journal()).toEqual(Array(4).fill('confirmed'));
    expect(await statesOf([...whole.serials, ...twice.serials])).toEqual([
      ...Array<string>(3).fill('confirmed'),
      'held',
    ]);
    const renamed = confirming(whole, 'a@example.com', 'b@example.com', 'e@example.com');
    expect(await changeHolds('confirmed', renamed)).toEqual(['too-late']);
    const { rows } = await sql<{ address: string }>`
      select email_address as address from registrations
      where shard_id = ${given.gala.shardId} and serial = any(${whole.serials}::bigint[]) order by serial`.execute(
      given.db,
    );
    expect(rows.map(({ address }) => address)).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
    expect(await heldSeats()).toBe(1);
  });

  test('releases holds, and none with a seat of another hold', async () => {
    const [one, two] = [await hold(given.ticketId, given.ticketId), await hold(given.ticketId)];
    const mixed = { holdId: one.holdId, seats: [...one.seats, ...two.seats] };
    expect(await changeHolds('released', mixed)).toEqual([null]);
    expect(await takenOf(given.ticketId)).toEqual([3]);
    for (let call = 0; call < 2; call += 1) expect(await changeHolds('released', one)).toEqual(['released']);
    expect(await takenOf(given.ticketId)).toEqual([1]);
    expect(await heldSeats()).toBe(1);
    expect(await changeHolds('confirmed', confirming(one, 'a@example.com', 'b@example.com'))).toEqual([
      'too-late',
    ]);
  });

  test('extends holds, at most to their limit', async () => {
    const holds = [await hold(given.ticketId, given.ticketId), await hold(given.ticketId)];
    const until = async () => {
      const found = await findHolds(
        api,
        holds.map(({ holdId }) => ({ ...given.gala, holdId })),
      );
      return found.map((one) => Math.min(...one!.seats.map(({ heldUntil }) => Number(heldUntil))));
    };
    const before = await until();
    const longer = [1_200, 1_000_000].map((seconds, index) => ({ ...holds[index]!, seconds }));
    expect(await changeHolds('extended', ...longer)).toEqual(['extended', 'extended']);
    const after = await until();
    expect(after[0]! - before[0]!).toBeGreaterThanOrEqual(600_000);
    expect(after[1]! - before[1]!).toBe(1_200_000);
  });
});

test('change_holds answers an API of the previous release, which expects only the outcomes', async () => {
  const [held, released] = [await hold(given.ticketId), await hold(given.ticketId)];
  const { shardId } = given.gala;
  const confirm = ({ holdId }: { holdId: string }, { serials }: { serials: number[] }) =>
    changeSeats(api, shardId, 'confirmed', holdId, serials);
  expect(await changeSeats(api, shardId, 'released', released.holdId, released.serials)).toBe('released');
  expect(await confirm(held, held)).toBe('confirmed');
  expect(await confirm(released, released)).toBe('too-late');
  expect(await confirm(held, released)).toBe('no such hold');
});

describe('expire_holds', () => {
  test('cancels the seats whose hold has expired, ticket by ticket, and skips a locked ticket', async () => {
    const [locked, free] = [await given.gala.addTicket(), await given.gala.addTicket({ capacity: 2 })];
    const [kept, ...gone] = await sell(
      ...[locked, free, free].map((ticket) => seat(ticket, { holdSeconds: 600 })),
    );
    await endHolds(given.db, given.gala);
    const [late] = await sell(seat(given.ticketId, { holdSeconds: 600 }));
    const rival = await holdTicket(given.db, locked);
    onTestFinished(() => rival.release().catch(() => {}));
    expect(await expireHolds(worker, given.gala.shardId, 100)).toBe(2);
    await rival.release();
    expect(await takenOf(locked, free)).toEqual([1, 0]);
    expect(await expireHolds(worker, given.gala.shardId, 100)).toBe(1);
    expect(await takenOf(locked, free, given.ticketId)).toEqual([0, 0, 1]);
    expect(await statesOf([kept!, ...gone, late!])).toEqual(['cancelled', 'cancelled', 'cancelled', 'held']);
    expect(await journal()).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });
});

describe('waiting lists', () => {
  let sold: number[];
  beforeEach(async () => {
    await given.useTicket({ capacity: 4, offerHours: 24 });
    sold = await sell(...seats(4));
  });

  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  const call = (
    count = 1,
    key: string | null = null,
    organizedEventTicketID = given.ticketId,
    of = given.gala,
  ) => toJoin(of, { organizedEventTicketID, seats: count, contact }, key);
  const join = (...calls: ReturnType<typeof call>[]) =>
    joinWaitingLists(api, given.gala.shardId, calls, 15_000);
  /** Joins with entries of these numbers of seats. Returns their ids. */
  const wait = async (...counts: number[]) =>
    (await join(...counts.map((count) => call(count)))).map(({ id }) => id);
  const entryStates = (entries: string[]) =>
    Promise.all(entries.map(async (entry) => (await findEntry(api, given.gala, entry))?.state));
  const leave = (entry: string) => leaveWaitingList(api, given.gala, entry, 15_000);
  const serve = () => serveWaitingLists(worker, given.gala.shardId, 1_000);
  const waitingKinds = async () =>
    (await journal()).filter((kind) => kind.startsWith('waiting')).map((kind) => kind.slice(8));
  const waitingOf = async () =>
    (
      await tablesOf(given.db)
        .selectFrom('tickets')
        .select('waiting')
        .where('shard_id', '=', given.gala.shardId)
        .where('id', '=', given.ticketId)
        .execute()
    )[0];

  test('join_waiting puts several calls on several lists, and answers a key as the first time', async () => {
    const free = await given.gala.addTicket({ offerHours: 24 });
    const keyed = call(1, 'once');
    const joined = await join(
      keyed,
      call(1, null, free),
      call(2),
      call(5),
      call(1, null, await given.gala.addTicket()),
    );
    expect(joined.map(({ outcome, place }) => [outcome, place])).toEqual([
      ['joined', 1],
      ['not-sold-out', null],
      ['joined', 2],
      ['too-many', null],
      ['no-list', null],
    ]);
    expect(await join(call(2))).toMatchObject([{ outcome: 'list-limit' }]);
    expect(await join(call(1, 'once'), call(2, 'once'))).toMatchObject([
      { outcome: 'joined', id: keyed.id },
      { outcome: 'key-reused' },
    ]);
    expect(await waitingOf()).toEqual({ waiting: 2 });
    expect(await waitingKinds()).toEqual(['joined', 'joined']);
  });

  test('a cancelled seat is offered to the first who waits, and when the offer expires to the next', async () => {
    const entries = await wait(1, 1, 1);
    await change('cancelled', [sold[0]!]);
    expect(await entryStates(entries)).toEqual(['offered', 'waiting', 'waiting']);
    expect(kindsOf(await reserve(seat()))).toEqual(['sold-out']);
    await endHolds(given.db, given.gala);
    expect(await expireHolds(worker, given.gala.shardId, 100)).toBe(1);
    expect(await entryStates(entries)).toEqual(['expired', 'offered', 'waiting']);
    expect(await takenOf(given.ticketId)).toEqual([4]);
    expect(await waitingKinds()).toEqual(['joined', 'joined', 'joined', 'offered', 'offered', 'expired']);
  });

  test('a confirmed offer ends the wait, and the ticket is on sale again', async () => {
    const [entry] = await wait(2);
    await change('cancelled', [sold[0]!]);
    // The free seat is for those who wait.
    expect(kindsOf(await reserve(seat()))).toEqual(['sold-out']);
    await change('cancelled', [sold[1]!]);
    const [offer] = await findHolds(api, [{ ...given.gala, holdId: entry! }]);
    const serials = offer!.seats.map(({ serial }) => serial);
    const confirmed = confirming({ holdId: entry!, serials }, 'a@example.com', 'b@example.com');
    expect(await changeHolds('confirmed', confirmed)).toEqual(['confirmed']);
    expect(await entryStates([entry!])).toEqual(['confirmed']);
    expect(await waitingOf()).toEqual({ waiting: 0 });
    expect(await waitingKinds()).toEqual(['joined', 'offered', 'confirmed']);
    expect(await statesOf(serials)).toEqual(['confirmed', 'confirmed']);
  });

  test('leave_waiting frees the seats of an offer for the next', async () => {
    const entries = await wait(1, 1, 1);
    await change('cancelled', [sold[0]!]);
    expect([await leave(entries[0]!), await leave(entries[0]!)]).toEqual([true, false]);
    expect(await leave(entries[2]!)).toBe(true);
    expect(await entryStates(entries)).toEqual(['left', 'offered', 'left']);
    expect(await leave(entries[1]!)).toBe(true);
    expect(await takenOf(given.ticketId)).toEqual([3]);
    expect(await waitingOf()).toEqual({ waiting: 0 });
  });

  test('serve_waiting_lists offers the seats of a raised capacity, and ends a closed list', async () => {
    const entries = await wait(2, 1, 1);
    await perform(given.db, updateTicketAction, { ticketId: given.ticketId, capacity: 5 }, 'tests');
    expect(await serve()).toBe(1);
    expect(await entryStates(entries)).toEqual(['waiting', 'offered', 'waiting']);
    await perform(
      given.db,
      updateTicketAction,
      { ticketId: given.ticketId, waitingClosesAt: new Date(Date.now() - 1_000) },
      'tests',
    );
    expect(await serve()).toBe(2);
    expect(await entryStates(entries)).toEqual(['expired', 'offered', 'expired']);
    expect(await serve()).toBe(0);
    expect(await waitingOf()).toEqual({ waiting: 0 });
    expect(await waitingKinds()).toEqual(['joined', 'joined', 'joined', 'offered', 'expired', 'expired']);
  });

  test('a reset takes all entries of the partner off, and cancels its registrations', async () => {
    const entries = await wait(1, 1);
    await change('cancelled', [sold[0]!]);
    expect(await resetEvent(api, createChangeGroups(groups(), 'cancelled'), given.gala)).toEqual({
      cancelled: 3,
      more: false,
    });
    expect(await entryStates(entries)).toEqual(['left', 'left']);
    expect(await takenOf(given.ticketId)).toEqual([0]);
  });
});

test('run_job_batch cancels what an operator has previewed, and queues passes again', async () => {
  const { eventId, shardId } = given.gala;
  const caller = callerNamed('test');
  const cancelled = await sell(seat(), seat());
  const { count, upTo } = await jobOperations.jobCancelPreview(operator, { eventId }, caller);
  expect(count).toBe(2);
  await jobOperations.jobCancel(operator, { eventId, expect: count, upTo }, caller);
  await runJobs(worker);
  expect(await cancelledOf(given.db, shardId, cancelled)).toEqual([true, true]);
  const [kept] = await sell(seat());
  await finalizePending(given.db, shardId);
  await switchOn(given.db, { shardId, eventId }, false);
  await jobOperations.jobResend(operator, { eventId, state: 'confirmed', expect: 1 }, caller);
  await runJobs(worker);
  const { rows } = await sql<{ subject: string }>`
    select subject from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = 'confirmation'`.execute(given.db);
  expect(rows).toEqual([{ subject: String(kept) }]);
});

test('index_attendees makes finalized registrations known to the search, also those of later batches', async () => {
  const add = async (fullName: string) => {
    await sell(seat(given.ticketId, { fullName }), seat(given.ticketId, { fullName: `${fullName} jr.` }));
    await finalize();
    while (await indexAttendees(worker, given.gala.shardId, 10_000));
  };
  const find = async (text: string) => {
    const { attendees } = await findAttendees(operator, { eventId: given.gala.eventId, text }, 10);
    return attendees.map(({ fullName }) => fullName).toSorted();
  };
  await add('Ada Lovelace');
  expect(await find('ada')).toEqual(['Ada Lovelace', 'Ada Lovelace jr.']);
  await add('Adam Smith');
  expect(await find('ADA')).toEqual(['Ada Lovelace', 'Ada Lovelace jr.', 'Adam Smith', 'Adam Smith jr.']);
});

describe('record_scans', () => {
  let pass: string;
  let registration: number;
  beforeEach(async () => {
    [registration] = (await sell(seat())) as [number];
    pass = passReferenceOf((await rowsOf([registration]))[0]!);
  });

  /** Returns an enrolled device, and a function that records its scans. */
  async function enrol(...gates: number[]) {
    const device = new DoorDevice('');
    const { code } = await addDevice(given.db, given.gala.eventId, gates);
    const enrolled = await createEnrolment(api)(device.enrolment(code));
    device.id = enrolled!.id;
    const [principal] = await findByTokens(api, [enrolled!.token]);
    const signer = createPassSigner({ db: api });
    const record = async (scans = device.scans) => {
      const request = device.signed(scans) as Parameters<typeof recordScans>[2];
      const recorded = await recordScans(api, principal!, request, signer, {
        validFrom: null,
        validUntil: null,
      });
      return 'problem' in recorded ? recorded : recorded.outcomes.map(({ outcome }) => outcome);
    };
    const scan = (text: string, ...input: [gate: number, more?: Parameters<DoorDevice['append']>[2]]) =>
      record([device.append(text, ...input)]);
    return { device, record, scan };
  }

  /** Finalizes, and returns the kinds of the entries about admissions. */
  const admissions = async () => (await journal()).filter((kind) => kind.startsWith('admitted'));
  const startedAt = Date.now();
  /** The hours are farther from each other than a slow machine can delay a scan. */
  const hoursAgo = (hours: number) => new Date(startedAt - hours * 3_600_000).toISOString();

  test('admits a pass once, again after an undo, and repeats its outcomes', async () => {
    const gate = await addGate(given.db, given.gala.eventId);
    const [one, two] = [await enrol(gate), await enrol(gate)];
    expect(await one.scan(pass, gate)).toEqual(['admitted']);
    expect(await two.scan(pass, gate)).toEqual(['already-admitted']);
    expect(await one.scan(pass, gate, { direction: 'undo', of: 1 })).toEqual(['undone']);
    expect(await two.scan(pass, gate)).toEqual(['admitted']);
    expect(await one.record()).toEqual(['admitted', 'undone']);
    expect(await two.record()).toEqual(['already-admitted', 'admitted']);
    expect(await admissions()).toEqual(['admitted', 'admitted']);
  });

  test('admits no cancelled registration, and none at a gate for another ticket', async () => {
    const vip = await addGate(given.db, given.gala.eventId, {
      area: 'vip',
      tickets: [await given.gala.addTicket()],
    });
    const gate = await addGate(given.db, given.gala.eventId);
    const { scan } = await enrol(gate, vip);
    expect(await scan(pass, vip)).toEqual(['wrong-gate']);
    await change('cancelled', [registration]);
    expect(await scan(pass, gate)).toEqual(['cancelled']);
    expect(await scan('https://example.com/42', gate)).toEqual(['unknown']);
    expect(await admissions()).toEqual([]);
  });

  test('settles late scans by their times: an earlier one is a conflict, an exit ends it', async () => {
    const yard = await addGate(given.db, given.gala.eventId, { area: 'yard', entryRule: 're-entry' });
    const [one, two, three] = [await enrol(yard), await enrol(yard), await enrol(yard)];
    const stored = async () => {
      const { rows } = await sql<{ isConflict: boolean }>`
        select again_of is not null as "isConflict" from admissions
        where shard_id = ${given.gala.shardId} and registration = ${registration} order by at`.execute(
        given.db,
      );
      return rows.map(({ isConflict }) => isConflict);
    };
    const decided = { decision: 'admitted' };
    expect(await three.scan(pass, yard, { ...decided, scannedAt: hoursAgo(1) })).toEqual(['admitted']);
    expect(await one.scan(pass, yard, { ...decided, scannedAt: hoursAgo(3) })).toEqual(['admitted']);
    expect(await stored()).toEqual([false, true]);
    const exit = { direction: 'out' as const, decision: 'exited', scannedAt: hoursAgo(2) };
    expect(await two.scan(pass, yard, exit)).toEqual(['exited']);
    expect(await stored()).toEqual([false, false]);
    expect(await admissions()).toEqual(['admitted', 'admitted', 'admitted_again']);
  });

  test('stores nothing of another history of a device, or of a revoked one', async () => {
    const gate = await addGate(given.db, given.gala.eventId);
    const { device, record, scan } = await enrol(gate);
    await scan(pass, gate);
    const forked = { ...device.scans[0]!, scannedAt: hoursAgo(1) };
    expect(await record([forked])).toEqual({ problem: 'forked', counter: 1 });
    await perform(
      given.db,
      revokeDeviceAction,
      { eventId: given.gala.eventId, deviceId: device.id },
      'tests',
    );
    expect(await scan(pass, gate)).toEqual({ problem: 'revoked' });
    expect(await admissions()).toEqual(['admitted']);
  });
});

describe('deliveries', () => {
  beforeEach(() => emptyTables(given.db, 'deliveries'));

  const kind = 'confirmation';
  const KINDS = [{ name: kind, consumerKind: null }];
  const queue = (of: Fixture, count: number) => {
    const subjects = Array.from({ length: count }, (_, index) => String(index));
    return queueDeliveries(
      delivery,
      of,
      subjects.map((subject) => ({ kind, subject, since: new Date() })),
    );
  };
  const lease = (most: number, withSuspect = true) =>
    leaseDeliveries(delivery, given.gala.shardId, KINDS, most, withSuspect);
  const record = (leased: Delivery, outcome: Parameters<typeof recordOutcomes>[2][number]['outcome']) =>
    recordOutcomes(delivery, given.gala.shardId, [
      { shardId: given.gala.shardId, delivery: leased, outcome },
    ]);
  const stored = async () => {
    const { rows } = await sql<{ state: string }>`
      select state, attempts, possibly_twice as "possiblyTwice" from deliveries
      where shard_id = ${given.gala.shardId} and event_id = ${given.gala.eventId} order by subject`.execute(
      given.db,
    );
    return rows;
  };
  const loseLeases = () =>
    sql`update deliveries set due_at = now() where shard_id = ${given.gala.shardId} and state = 'sending'`.execute(
      given.db,
    );

  test('lease_deliveries leases each once, with an equal share for each event', async () => {
    const other = await createNeighbour();
    await queue(given.gala, 5);
    await queue(other, 2);
    const first = await lease(4);
    const ofGala = first.filter(({ eventId }) => eventId === given.gala.eventId);
    expect([first.length, ofGala.length]).toEqual([4, 2]);
    expect((await lease(10)).map(({ eventId }) => eventId)).toEqual(Array(3).fill(given.gala.eventId));
    expect(await lease(10)).toEqual([]);
  });

  test('record_deliveries records the outcome of the lease holder; a lost lease counts as an attempt', async () => {
    await queue(given.gala, 2);
    const [sent, crashed] = (await lease(10)).toSorted((a, b) => Number(a.subject) - Number(b.subject));
    await record(sent!, { state: 'sent', reason: null, attempts: 1 });
    expect(await lease(10)).toEqual([]);
    await loseLeases();
    const [again] = await lease(10);
    expect(again).toMatchObject({ subject: '1', attempts: 1, possiblyTwice: true, isSuspect: false });
    await record(crashed!, { state: 'sent', reason: null });
    expect(await stored()).toEqual([
      { state: 'sent', attempts: 1, possiblyTwice: false },
      { state: 'sending', attempts: 1, possiblyTwice: true },
    ]);
    await loseLeases();
    await lease(10);
    await loseLeases();
    expect(await lease(10, false)).toEqual([]);
    expect(await lease(10)).toMatchObject([{ subject: '1', isSuspect: true }]);
  });
});

test('find_news finds the consumers of new entries, and webhook_delivered advances the one that has the lease', async () => {
  const { shardId } = given.gala;
  const url = 'https://partner.example/hook';
  const ids: string[] = [];
  for (const owner of [given.gala, await addSeller()])
    ids.push((await addWebhook(given.db, owner, { url })).endpoint.id);
  const lease = () => leaseConsumers(delivery, shardId, 'webhook', 10, 3_600);
  // A new consumer may have something to read.
  const fresh = await lease();
  expect(fresh.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  for (const consumer of fresh) expect(await releaseCaughtUp(delivery, consumer)).toBe(true);
  expect(await lease()).toEqual([]);
  await sell(seat());
  await finalize();
  const [consumer, ...none] = await lease();
  expect([consumer?.id, none]).toEqual([ids[0], []]);
  expect(await lease()).toEqual([]);
  const last = consumer!.newsOffset!;
  const deliver = () =>
    recordDelivered(
      delivery,
      consumer!,
      { id: randomUUID(), after: last - 1, last, entries: 1 } as Parameters<typeof recordDelivered>[2],
      { outcome: 'delivered', tookMs: 1, httpStatus: 204, error: null, retryAfterMs: null },
      null,
    );
  expect(await deliver()).toBe(true);
  const stored = tablesOf(given.db)
    .selectFrom('journal_consumers')
    .select(['last_offset', 'is_behind' as never]);
  expect(await stored.where('shard_id', '=', shardId).where('id', '=', ids[0]!).execute()).toEqual([
    { last_offset: last, is_behind: false },
  ]);
  // Entries about tickets are for all partners.
  await given.useTicket({ capacity: 1 });
  await sell(seat());
  await finalize();
  expect((await lease()).map(({ id }) => id)).toContain(ids[1]);
  // An operator's retry ends the lease.
  await retryConsumer(given.db, consumer!);
  expect(await deliver()).toBe(false);
});

test('every function of the folder was executed, on the servers of the shards alone, and reconcile finds nothing', async () => {
  expect(await reconcile(given.db)).toEqual([]);
  // Connections report what they have called when they end.
  await disconnect();
  await waitForEndOfConnections(given.db, 'contract-');
  if (inject('engine') === 'citus') expect((await calledFunctions(given.database))[0]).toEqual([]);
  await expect
    .poll(async () => [...new Set((await calledFunctions(given.database)).flat())].toSorted())
    .toEqual(FUNCTIONS.toSorted());
});

// Events, partners and shards.

/** Adds a partner that sells the event, too. */
async function addSeller(): Promise<Fixture> {
  const { id: partnerId } = await createPartner(given.db, `partner ${randomUUID()}`);
  await grantEvent(given.db, partnerId, given.gala.eventId);
  return { ...given.gala, partnerId };
}

/** Creates an event in this shard. */
async function inShard(shardId: number): Promise<Fixture> {
  const fixture = await createFixture(given.db);
  if (fixture.shardId !== shardId)
    await perform(given.db, moveEventAction, { eventId: fixture.eventId, shardId }, 'tests');
  return { ...fixture, shardId };
}

/** Creates an event in the shard of the test's event. */
const createNeighbour = () => inShard(given.gala.shardId);

/** Creates an event in a shard of another server. On one Postgres there is only one shard. */
async function createElsewhere(): Promise<Fixture> {
  const here = await groupOf(given.gala.shardId);
  for (const { id } of await listShards(given.db)) if ((await groupOf(id)) !== here) return inShard(id);
  return createNeighbour();
}

/** Returns the number of the server of a shard: 0 is the coordinator, or the one Postgres. */
async function groupOf(shardId: number): Promise<number> {
  if (inject('engine') === 'postgres') return 0;
  const { rows } = await sql<{ group: number }>`
    select groupid as "group" from pg_dist_placement
    where shardid = get_shard_id_for_distribution_column('tickets', ${shardId}::integer)`.execute(given.db);
  return rows[0]!.group;
}
