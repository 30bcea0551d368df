import { formatPassReference, RESPONSE_CODES } from '@floodgate/contract';
import { HOUSE_PARTNER_ID, type Database } from '@floodgate/database';
import { findEvent, keepInShard, type Event } from '@floodgate/events';
import type { Principal } from '@floodgate/http';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { hasSeat, refusalOf, type RefusalReason, type SeatOutcome } from '../answers.ts';
import { toReservation } from '../register/reservation.ts';
import type { Guest } from './guest.ts';
import { reserveGuests } from './reserve-guests.ts';

/** The outcome of one guest. */
export type GuestOutcome =
  | { kind: 'registered'; serial: number; passReference: string }
  /** `isCancelled`: the registration was cancelled since. Without a reference, the seat is that of a preview. */
  | { kind: 'already-registered'; passReference: string | null; isCancelled: boolean }
  /** `reason`: as a partner reads it. */
  | { kind: 'refused'; reason: string };

export interface RegisterOptions {
  /** Whether a guest whose registration was cancelled is registered again. */
  again?: boolean;
  /** Only say what would become of them. By ticket: seats that count as taken by guests before these. */
  previewAfter?: ReadonlyMap<number, number>;
}

/**
 * Registers guests of an event through the house partner, in the caller's transaction, each once: a guest whose
 * reference has a registration gets that one. Returns their outcomes, in order. Throws Failure if there is no such
 * event, or it is over or archived.
 *
 * Guests are on sale before the sale begins and after it has ended. All other rules are those of partners.
 */
export async function registerGuests(
  transaction: Database,
  eventId: number,
  guests: readonly Guest[],
  { again = false, previewAfter }: RegisterOptions = {},
): Promise<GuestOutcome[]> {
  // Neither moved nor archived until the transaction ends.
  await keepInShard(transaction, eventId);
  const event = await findEvent(transaction, eventId);
  assertOpen(event);
  await lockGuests(transaction, eventId);
  const earlier = await findEarlier(transaction, event, guests, again);
  const house = houseAt(event);
  const added = guests.filter(({ partnerReference }) => !earlier.has(partnerReference));
  const reservations = added.map((guest) => toReservation(house, guest, {}));
  const outcomes =
    reservations.length > 0 ? await reserveGuests(transaction, event, reservations, previewAfter) : [];
  const next = outcomes.values();
  return guests.map(
    ({ partnerReference }) => earlier.get(partnerReference) ?? outcomeOf(house, next.next().value!),
  );
}

function assertOpen({ archivedAt, endsAt }: Event) {
  if (archivedAt) throw new Failure('the event is archived; restore it first');
  if (endsAt && endsAt.getTime() <= Date.now()) throw new Failure('the event is over');
}

/** The house partner, as the principal of a request. */
function houseAt(event: Event): Principal {
  const { id: eventId, shardId, mode, passPrefix, duplicatePolicy, duplicateScope, cancelUntil } = event;
  return {
    kind: 'partner',
    partnerId: HOUSE_PARTNER_ID,
    eventId,
    shardId,
    mode,
    passPrefix,
    duplicatePolicy,
    duplicateScope,
    cancelUntil,
    requestsPerSecond: null,
    weight: 1,
  };
}

// Spells "gues".
const GUEST_LOCK = 0x67756573;

/**
 * Lets one transaction at a time register guests of an event. So no guest is registered after another
 * transaction has looked for it. A command that stops without an end keeps the lock, and its tickets, for 10 s.
 */
async function lockGuests(transaction: Database, eventId: number) {
  await sql`select set_config('idle_in_transaction_session_timeout', '10s', true)`.execute(transaction);
  await sql`select pg_advisory_xact_lock(${sql.lit(GUEST_LOCK)}, ${eventId}::integer)`.execute(transaction);
}

/** Returns the registrations of guests who have one, by reference. */
async function findEarlier(
  transaction: Database,
  { id: eventId, shardId, passPrefix: prefix }: Event,
  guests: readonly Guest[],
  again: boolean,
) {
  const references = guests.map(({ partnerReference }) => partnerReference);
  const { rows } = await sql<{ reference: string; serial: number; passCode: number; isCancelled: boolean }>`
    select partner_reference as reference, serial, pass_code as "passCode",
      cancelled_at is not null as "isCancelled"
    from registrations
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id = ${HOUSE_PARTNER_ID}
      and partner_reference is not null and partner_reference = any(${references}::text[])
      and (cancelled_at is null or not ${again}::boolean)
    order by cancelled_at is null, serial`.execute(transaction);
  // The last row of a reference counts: one that is not cancelled, if there is one.
  return new Map(
    rows.map(({ reference, serial, passCode, isCancelled }): [string, GuestOutcome] => {
      const passReference = formatPassReference({ prefix, eventId, serial, passCode });
      return [reference, { kind: 'already-registered', passReference, isCancelled }];
    }),
  );
}

function outcomeOf(house: Principal, outcome: SeatOutcome): GuestOutcome {
  if (!hasSeat(outcome)) return { kind: 'refused', reason: reasonOf(house, outcome.kind) };
  const { serial, passCode } = outcome;
  const { passPrefix: prefix, eventId } = house;
  const passReference = formatPassReference({ prefix, eventId, serial, passCode });
  if (outcome.kind === 'existing') return { kind: 'already-registered', passReference, isCancelled: false };
  return { kind: 'registered', serial, passReference };
}

/** Returns the reason of a refusal in the words of the answer to a partner. */
function reasonOf(house: Principal, kind: RefusalReason) {
  const [code, { message }] = refusalOf(house, kind);
  return message ?? RESPONSE_CODES[code].message;
}

/** Returns the outcome of a guest whose attendee is registered already, by the rule of the event. */
export const duplicateAt = (event: Event): GuestOutcome =>
  event.duplicatePolicy === 'return_existing'
    ? { kind: 'already-registered', passReference: null, isCancelled: false }
    : { kind: 'refused', reason: reasonOf(houseAt(event), 'duplicate') };
