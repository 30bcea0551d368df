import type { Database } from '@floodgate/database';
import { perform } from '@floodgate/audit';
import { moveEventAction } from '@floodgate/events/actions';
import type { BulkReservation, NamedRegistration, Submission, Reservation } from '@floodgate/registrations';
import { grantEvent } from '@floodgate/events';
import type { TicketSettings } from '@floodgate/tickets';
import { allocateTicketAction } from '@floodgate/tickets/actions';
import fc from 'fast-check';
import { createFixture, type Fixture } from './fixture.ts';
import { ReservationModel, scopedKey, type ModelTicket } from './reservation-model.ts';

// fast-check's values for reserveBatch. Small ranges make the same values recur.

const HOUR_MS = 3_600_000;
const hours = (count: number) => new Date(Date.now() + count * HOUR_MS);

const WINDOWS = {
  'no window': { isOpen: true, dates: () => ({}) },
  'has begun': { isOpen: true, dates: () => ({ saleStartsAt: hours(-1) }) },
  'has not ended': { isOpen: true, dates: () => ({ saleEndsAt: hours(1) }) },
  'is open': { isOpen: true, dates: () => ({ saleStartsAt: hours(-1), saleEndsAt: hours(1) }) },
  'has not begun': { isOpen: false, dates: () => ({ saleStartsAt: hours(1) }) },
  'is over': { isOpen: false, dates: () => ({ saleStartsAt: hours(-2), saleEndsAt: hours(-1) }) },
} satisfies Record<string, { isOpen: boolean; dates: () => Partial<TicketSettings> }>;

/** A partner's share of a ticket in held seats: less than four seats of the drawn tickets, so a share is four. */
export const HOLD_SHARE_PERCENT = 40;

export interface DrawnTicket {
  event: number;
  capacity: number;
  active: boolean;
  window: keyof typeof WINDOWS;
  allocations: DrawnAllocation[];
}

export interface DrawnAllocation {
  partner: number;
  reserved: number;
  /** More than the reserved seats. */
  spare: number | null;
  isReleased: boolean;
}

export interface DrawnReservation {
  /** The scope of the key. The event may belong to another partner. */
  partner: number;
  ticket: number;
  /** Set if the ticket does not belong to the named event. */
  astray: 'no such ticket' | 'another event' | null;
  attendee: number;
  key: number | null;
  fingerprint: number;
  isHeld: boolean;
  gender: string | null;
  extraData1: string | null;
}

/** The reservations of one bulk call, with one key. */
export interface DrawnBulk {
  bulk: DrawnReservation[];
  isAll: boolean;
  /** Null: a new key. */
  key: number | null;
  fingerprint: number;
  /** The earlier call that is sent again in its place. */
  repeats: number | null;
}

export type DrawnSubmission = DrawnReservation | DrawnBulk;

/** A registration, cancelled or not, and the fault in its name. */
export interface DrawnNamed {
  registration: number;
  astray: 'serial' | 'partner' | 'event' | 'pass code' | null;
}

/** Registrations to cancel together, with the deadline of their event. */
export interface DrawnCancellations {
  cancel: DrawnNamed[];
  deadline: 'over' | 'ahead' | null;
}

export type DrawnStep =
  | DrawnSubmission[]
  | DrawnCancellations
  | { confirm: DrawnNamed[] }
  | 'finalize'
  | 'holds end'
  | 'expire holds'
  | 'a day passes';

const seldom = <T>(rare: T, usual: T) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(rare) }, { weight: 5, arbitrary: fc.constant(usual) });

const anyWindow = fc.oneof(
  { weight: 3, arbitrary: fc.constant('no window' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(WINDOWS) as (keyof typeof WINDOWS)[])) },
);

const anyAllocation: fc.Arbitrary<DrawnAllocation> = fc.record({
  partner: fc.nat(1),
  reserved: fc.nat(3),
  spare: fc.option(fc.nat(2)),
  isReleased: seldom(true, false),
});

export const anyTicket: fc.Arbitrary<DrawnTicket> = fc.record({
  event: fc.nat(1),
  capacity: fc.nat(7),
  active: seldom(false, true),
  window: anyWindow,
  allocations: fc.oneof(
    { weight: 2, arbitrary: fc.constant<DrawnAllocation[]>([]) },
    { weight: 1, arbitrary: fc.array(anyAllocation, { minLength: 1, maxLength: 2 }) },
  ),
});

const anyReservation: fc.Arbitrary<DrawnReservation> = fc.record({
  partner: seldom(1, 0),
  ticket: fc.nat(2),
  astray: fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('no such ticket' as const, 'another event' as const) },
  ),
  attendee: fc.nat(5),
  key: fc.option(fc.nat(3), { freq: 2 }),
  fingerprint: seldom(1, 0),
  isHeld: fc.boolean(),
  gender: fc.option(fc.string({ maxLength: 8 }).filter((text) => !text.includes('\0'))),
  extraData1: fc.option(fc.constantFrom('', '{"a":1,"b"}', 'NULL', '\\', '日本 🎟', '"', "'; --")),
});

const anyBulk: fc.Arbitrary<DrawnBulk> = fc.record({
  bulk: fc.array(anyReservation, { minLength: 1, maxLength: 5 }),
  isAll: fc.boolean(),
  key: fc.option(fc.nat(1), { freq: 2 }),
  fingerprint: seldom(1, 0),
  repeats: fc.option(fc.nat(), { freq: 2 }),
});

const anySubmission: fc.Arbitrary<DrawnSubmission> = fc.oneof(
  { weight: 2, arbitrary: anyReservation },
  { weight: 1, arbitrary: anyBulk },
);

export const anyBatch = fc.array(anySubmission, { minLength: 1, maxLength: 12 });

const anyNamed: fc.Arbitrary<DrawnNamed> = fc.record({
  registration: fc.nat(),
  astray: fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'serial' as const,
        'partner' as const,
        'event' as const,
        'pass code' as const,
      ),
    },
  ),
});

const anyCancellations: fc.Arbitrary<DrawnCancellations> = fc.record({
  cancel: fc.array(anyNamed, { minLength: 1, maxLength: 6 }),
  deadline: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('over' as const, 'ahead' as const) },
  ),
});

export const anyStep: fc.Arbitrary<DrawnStep> = fc.oneof(
  { weight: 6, arbitrary: anyBatch },
  { weight: 2, arbitrary: anyCancellations },
  { weight: 2, arbitrary: fc.record({ confirm: fc.array(anyNamed, { minLength: 1, maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.constantFrom('holds end' as const, 'expire holds' as const) },
  { weight: 2, arbitrary: fc.constant('finalize' as const) },
  { weight: 1, arbitrary: fc.constant('a day passes' as const) },
);

/** Two events and the model of their tickets. The second event accepts an attendee once. */
export interface World {
  events: [Fixture, Fixture];
  model: ReservationModel;
  /** The bulk calls so far. */
  bulks: BulkReservation[];
  /** Whether the second event returns an attendee's first seat for a duplicate. */
  returnsExisting: boolean;
}

export async function createWorld(
  db: Database,
  tickets: readonly DrawnTicket[],
  policy: 'reject' | 'return_existing',
): Promise<World> {
  const [first, second] = [await createFixture(db), await createFixture(db, policy)];
  // A batch belongs to one shard.
  await perform(db, moveEventAction, { eventId: second.eventId, shardId: first.shardId }, 'test');
  const events: World['events'] = [first, { ...second, shardId: first.shardId }];
  const rows: ModelTicket[] = [];
  for (const { event, capacity, active, window, allocations } of tickets) {
    const { isOpen, dates } = WINDOWS[window];
    const id = await events[event]!.addTicket({ capacity, active, ...dates() });
    const ticket: ModelTicket = {
      id,
      eventId: events[event]!.eventId,
      capacity,
      taken: 0,
      onSale: active && isOpen,
      allocations: new Map(),
    };
    rows.push(ticket);
    for (const drawn of allocations) await allocateIn(db, events, ticket, drawn);
  }
  return {
    events,
    model: new ReservationModel(rows, HOLD_SHARE_PERCENT),
    bulks: [],
    returnsExisting: policy === 'return_existing',
  };
}

/** Allocates seats of a ticket to a partner, unless more would be reserved than there are. */
async function allocateIn(
  db: Database,
  events: World['events'],
  ticket: ModelTicket,
  { partner, reserved, spare, isReleased }: DrawnAllocation,
): Promise<void> {
  const { partnerId } = events[partner]!;
  const others = [...ticket.allocations].filter(
    ([other, { isReleased: isOver }]) => other !== partnerId && !isOver,
  );
  const free = others.reduce((left, [, other]) => left - other.reserved, ticket.capacity);
  if (!isReleased && reserved > free) return;
  const cap = spare === null ? null : reserved + spare;
  await grantEvent(db, partnerId, ticket.eventId);
  const input = {
    ticketId: ticket.id,
    partnerId,
    reserved,
    cap,
    releasesAt: isReleased && reserved > 0 ? hours(-1) : null,
  };
  await perform(db, allocateTicketAction, input, 'test');
  ticket.allocations.set(partnerId, { reserved, cap, isReleased });
}

const NOBODYS_TICKET = 2_000_000_000;
let passCode = 1_000_000_000;

/** Returns the submissions of a drawn batch without repeated keys, as the caller of reserveBatch guarantees. */
export function toSubmissions(world: World, drawn: readonly DrawnSubmission[]): Submission[] {
  const seen = new Set<string>();
  return drawn
    .map((one) => ('bulk' in one ? toBulk(world, one) : toReservation(world, one)))
    .filter((submission) => {
      const key = scopedKey(submission);
      const isNew = key === null || !seen.has(key);
      if (key !== null) seen.add(key);
      return isNew;
    });
}

/** Returns a bulk call from the partner and under the event of the first reservation. */
function toBulk(world: World, { bulk, isAll, key, fingerprint, repeats }: DrawnBulk): BulkReservation {
  if (repeats !== null && world.bulks.length > 0) return world.bulks[repeats % world.bulks.length]!;
  const reservations = bulk.map((one) => toReservation(world, one));
  const { partnerId, eventId } = reservations[0]!;
  const isOnce = eventId === world.events[1].eventId;
  const drawn = {
    reservations: reservations.map((reservation, index) => ({
      ...reservation,
      partnerId,
      eventId,
      attendeeDigest: isOnce ? uuid(bulk[index]!.attendee) : null,
      returnsExisting: isOnce && world.returnsExisting,
      idempotency: null,
    })),
    isAll,
    idempotency:
      key === null ? null : { key: `bulk ${key}`, fingerprint: fingerprintOf(bulk, isAll, fingerprint) },
  };
  world.bulks.push(drawn);
  return drawn;
}

/** Returns the fingerprint of a call. It is the same only for the same content. */
function fingerprintOf(bulk: readonly DrawnReservation[], isAll: boolean, other: number): string {
  const asked = JSON.stringify([bulk.length, isAll, other]);
  return uuid(Array.from(asked).reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1e9, 7));
}

function toReservation({ events, model, returnsExisting }: World, drawn: DrawnReservation): Reservation {
  passCode += 1;
  const ticket = model.tickets[drawn.ticket % model.tickets.length]!;
  const [own, other] = ticket.eventId === events[0].eventId ? events : events.toReversed();
  const { eventId } = drawn.astray === 'another event' ? other! : own!;
  return {
    shardId: own!.shardId,
    partnerId: events[drawn.partner]!.partnerId,
    eventId,
    ticketId: drawn.astray === 'no such ticket' ? NOBODYS_TICKET : ticket.id,
    passCode,
    fullName: `Guest ${passCode}`,
    emailAddress: `guest${drawn.attendee}@example.com`,
    phoneNumber: null,
    gender: drawn.gender,
    tableOrSeat: '',
    extraData1: drawn.extraData1,
    extraData2: null,
    attendeeDigest: eventId === events[1].eventId ? uuid(drawn.attendee) : null,
    returnsExisting: eventId === events[1].eventId && returnsExisting,
    holdSeconds: drawn.isHeld ? 60 : null,
    holdId: null,
    partnerReference: null,
    idempotency:
      drawn.key === null ? null : { key: `{"key\\",${drawn.key}}`, fingerprint: uuid(drawn.fingerprint) },
  };
}

/** Returns the cancellations of a drawn step, or none before the first registration. */
export function toCancellations(world: World, { cancel, deadline }: DrawnCancellations): NamedRegistration[] {
  return toNamed(world, cancel).map((named) => {
    return { ...named, deadline: deadline && hours(deadline === 'over' ? -1 : 1) };
  });
}

/** Returns the registrations of a drawn step, or none before the first registration. */
export function toNamed({ model }: World, drawn: readonly DrawnNamed[]): NamedRegistration[] {
  if (model.registrations.length === 0) return [];
  return drawn.map(({ registration, astray }) => {
    const wanted = model.registrations[registration % model.registrations.length]!;
    const off = (name: DrawnNamed['astray']) => (astray === name ? 1_000_000 : 0);
    return {
      partnerId: wanted.partnerId + off('partner'),
      eventId: wanted.eventId + off('event'),
      serial: wanted.serial + off('serial'),
      passCode: wanted.passCode + off('pass code'),
    };
  });
}

const uuid = (digits: number) => `00000000-0000-4000-8000-${String(digits).padStart(12, '0')}`;
