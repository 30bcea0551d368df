import {
  isBulk,
  type BulkReservation,
  type ChangeOutcome,
  type NamedRegistration,
  type Submission,
  type Outcome,
  type SeatRefusal,
  type Reservation,
  type SeatOutcome,
} from '@floodgate/registrations';

/** A ticket in the model. */
export interface ModelTicket {
  id: number;
  eventId: number;
  capacity: number;
  taken: number;
  onSale: boolean;
  /** By partner. */
  allocations: Map<number, { reserved: number; cap: number | null; isReleased: boolean }>;
}

/** A granted seat and the expected row. */
export interface ModelRegistration extends Reservation {
  serial: number;
  batchId: string;
  position: number;
  cancelled: boolean;
  /** Whether its seat is held, and whether the hold has expired. */
  held: 'no' | 'yes' | 'overdue';
  finalized: boolean;
}

/** An expected outcome. A new seat's serial is not predicted: Postgres chooses it. */
type Expected = Refused | { kind: 'key-reused' } | Registered | Existing;
type ExpectedOfBulk = { kind: 'key-reused' } | { kind: 'bulk'; outcomes: Expected[]; replayed: boolean };
type Refused = {
  kind: Exclude<SeatRefusal, 'in-progress' | 'overloaded' | 'unknown' | 'failed'>;
  replayed?: boolean;
  limit?: number;
};
type Existing = { kind: 'existing'; serial: number; passCode: number };
type Registered = { kind: 'registered'; passCode: number; replayed: boolean; serial?: number };

interface Remembered {
  fingerprint: string;
  answer: Expected | ExpectedOfBulk;
}

/** Performs in simple steps, one reservation after another, the work of reserveBatch in one transaction. */
export class ReservationModel {
  readonly tickets: ModelTicket[];
  readonly registrations: ModelRegistration[] = [];
  /** One entry for each change of a registration. */
  readonly journal: string[] = [];
  readonly #remembered = new Map<string, Remembered>();

  readonly #holdSharePercent: number;

  constructor(tickets: ModelTicket[], holdSharePercent = 100) {
    this.tickets = tickets;
    this.#holdSharePercent = holdSharePercent;
  }

  /** Returns the expected outcome of the submission if it is the next one. */
  expectSubmission(submission: Submission): Expected | ExpectedOfBulk {
    return isBulk(submission) ? this.#expectBulk(submission) : this.expect(submission);
  }

  #expectBulk(bulk: BulkReservation): ExpectedOfBulk {
    const first = this.#remembered.get(scopedKey(bulk) ?? '');
    if (first && first.fingerprint !== bulk.idempotency?.fingerprint) return { kind: 'key-reused' };
    if (first) return replayOf(first.answer as ExpectedOfBulk);
    const before = { taken: this.tickets.map(({ taken }) => taken), registered: this.registrations.length };
    const outcomes = bulk.reservations.map((reservation) => {
      const expected = this.expect(reservation);
      if (expected.kind === 'registered') this.#seat(reservation, { ...expected, serial: 0 }, '', 0);
      return expected;
    });
    this.tickets.forEach((ticket, index) => (ticket.taken = before.taken[index]!));
    this.registrations.length = before.registered;
    const isRefused = bulk.isAll && !outcomes.every(isSeat);
    const refused = (expected: Expected): Expected =>
      isSeat(expected) ? { kind: 'group-refused', replayed: false } : expected;
    return { kind: 'bulk', outcomes: isRefused ? outcomes.map(refused) : outcomes, replayed: false };
  }

  /** Returns the expected outcome of the reservation if it is the next one. */
  expect(reservation: Reservation): Expected {
    const first = this.#remembered.get(scopedKey(reservation) ?? '');
    if (first && first.fingerprint !== reservation.idempotency?.fingerprint) return { kind: 'key-reused' };
    if (first) return { ...first.answer, replayed: true } as Expected;
    const earlier = this.#duplicateOf(reservation);
    if (earlier && reservation.returnsExisting && earlier.partnerId === reservation.partnerId)
      return { kind: 'existing', serial: earlier.serial, passCode: earlier.passCode };
    const ticket = this.#ticketOf(reservation);
    if (!ticket) return { kind: 'no-such-ticket', replayed: false };
    if (!ticket.onSale) return { kind: 'not-on-sale', replayed: false };
    if (earlier) return { kind: 'duplicate', replayed: false };
    const own = this.#unsold(ticket, reservation.partnerId);
    const partners = [...ticket.allocations.keys()];
    const setAside = partners.reduce((sum, partnerId) => sum + this.#unsold(ticket, partnerId), 0);
    const free = ticket.capacity - ticket.taken;
    if (free <= 0 || (own === 0 && free <= setAside)) return { kind: 'sold-out', replayed: false };
    const { cap = null } = ticket.allocations.get(reservation.partnerId) ?? {};
    if (cap !== null && this.#takenBy(ticket, reservation.partnerId) >= cap)
      return { kind: 'allocation-sold', replayed: false };
    const limit = this.#reachedHoldLimit(reservation, ticket);
    if (limit !== undefined) return { kind: 'hold-limit', replayed: false, limit };
    return { kind: 'registered', passCode: reservation.passCode, replayed: false };
  }

  /** Applies the outcome of the submission. `position` is that of its first registration. */
  recordSubmission(submission: Submission, outcome: Outcome, batchId: string, position: number): void {
    if (!isBulk(submission)) this.record(submission, outcome as SeatOutcome, batchId, position);
    else if (outcome.kind === 'bulk' && !outcome.replayed) {
      this.#remember(submission, { ...outcome, outcomes: outcome.outcomes.map(rememberedAs) });
      for (const [index, reservation] of submission.reservations.entries()) {
        const own = outcome.outcomes[index]!;
        if (own.kind === 'registered' && !own.replayed)
          this.#seat(reservation, own, batchId, position + index);
      }
    }
  }

  /** Applies the outcome of the reservation. */
  record(reservation: Reservation, outcome: SeatOutcome, batchId: string, position: number): void {
    if (outcome.kind === 'existing') return this.#remember(reservation, rememberedAs(outcome));
    if (outcome.kind === 'key-reused' || !('replayed' in outcome) || outcome.replayed) return;
    this.#remember(reservation, outcome as Expected);
    if (outcome.kind === 'registered') this.#seat(reservation, outcome, batchId, position);
  }

  #remember(submission: Submission, answer: Expected | ExpectedOfBulk): void {
    const key = scopedKey(submission);
    if (key) this.#remembered.set(key, { fingerprint: submission.idempotency!.fingerprint, answer });
  }

  #seat(
    reservation: Reservation,
    seat: Pick<ModelRegistration, 'serial' | 'passCode'>,
    batchId: string,
    position: number,
  ) {
    const { serial, passCode } = seat;
    const held: ModelRegistration['held'] = reservation.holdSeconds === null ? 'no' : 'yes';
    this.#ticketOf(reservation)!.taken += 1;
    const stored = {
      serial,
      passCode,
      batchId,
      position,
      cancelled: false,
      finalized: false,
      held,
    };
    this.registrations.push({ ...reservation, ...stored });
  }

  /** Returns the expected outcome of the cancellation if it is the next one, and applies it. */
  cancel({ deadline, ...named }: NamedRegistration): ChangeOutcome {
    const found = this.#find(named);
    if (!found) return null;
    if (found.cancelled) return 'cancelled';
    if (deadline && deadline.getTime() <= Date.now()) return 'too-late';
    this.#release(found);
    return 'cancelled';
  }

  /** Returns the expected outcome of the confirmation if it is the next one, and applies it. */
  confirm(named: NamedRegistration): ChangeOutcome {
    const found = this.#find(named);
    if (!found) return null;
    if (found.cancelled || found.held === 'overdue') return 'too-late';
    if (found.held === 'yes' && found.finalized) this.journal.push(`${found.serial} confirmed`);
    found.held = 'no';
    return 'confirmed';
  }

  /** Ends the time of one hold. */
  endHold(named: NamedRegistration): void {
    const found = this.#find(named);
    if (found?.held === 'yes') found.held = 'overdue';
  }

  /** Ends the time of all holds. */
  endHolds(): void {
    for (const registration of this.registrations)
      if (registration.held === 'yes' && !registration.cancelled) registration.held = 'overdue';
  }

  /** Cancels registrations whose hold has expired, and returns their number. */
  expireHolds(): number {
    const overdue = this.registrations.filter(({ held, cancelled }) => held === 'overdue' && !cancelled);
    for (const registration of overdue) this.#release(registration);
    return overdue.length;
  }

  #find({ partnerId, eventId, serial, passCode }: NamedRegistration): ModelRegistration | undefined {
    return this.registrations.find(
      (one) =>
        one.serial === serial &&
        one.passCode === passCode &&
        one.partnerId === partnerId &&
        one.eventId === eventId,
    );
  }

  #release(registration: ModelRegistration): void {
    registration.cancelled = true;
    this.#ticketOf(registration)!.taken -= 1;
    this.journal.push(`${registration.serial} cancelled`);
  }

  /** Confirms all registrations that are not finalized. */
  finalize(): void {
    for (const registration of this.registrations) {
      if (!registration.finalized && !registration.cancelled && registration.held === 'no')
        this.journal.push(`${registration.serial} confirmed`);
      registration.finalized = true;
    }
  }

  forgetKeys(): void {
    this.#remembered.clear();
  }

  #ticketOf({ ticketId, eventId }: Reservation): ModelTicket | undefined {
    return this.tickets.find((ticket) => ticket.id === ticketId && ticket.eventId === eventId);
  }

  #takenBy({ id }: ModelTicket, partnerId: number): number {
    const isTaken = (one: ModelRegistration) =>
      one.ticketId === id && one.partnerId === partnerId && !one.cancelled;
    return this.registrations.filter(isTaken).length;
  }

  /** Returns how many seats are reserved for a partner and left. */
  #unsold(ticket: ModelTicket, partnerId: number): number {
    const { reserved = 0, isReleased = true } = ticket.allocations.get(partnerId) ?? {};
    return isReleased ? 0 : Math.max(0, reserved - this.#takenBy(ticket, partnerId));
  }

  /** Returns the limit of held seats that the partner has reached. Undefined: none. */
  #reachedHoldLimit(
    { holdSeconds, partnerId }: Reservation,
    { id, capacity, allocations }: ModelTicket,
  ): number | undefined {
    if (holdSeconds === null) return undefined;
    const held = this.registrations.filter(
      (one) => one.ticketId === id && one.partnerId === partnerId && one.held !== 'no' && !one.cancelled,
    );
    const share = Math.floor((capacity * this.#holdSharePercent) / 100);
    const { reserved = 0, isReleased = true } = allocations.get(partnerId) ?? {};
    const limit = Math.max(4, share, isReleased ? 0 : reserved);
    return held.length >= limit ? limit : undefined;
  }

  #duplicateOf({ eventId, attendeeDigest }: Reservation): ModelRegistration | undefined {
    return this.registrations.find(
      (earlier) =>
        attendeeDigest !== null &&
        !earlier.cancelled &&
        earlier.eventId === eventId &&
        earlier.attendeeDigest === attendeeDigest,
    );
  }
}

const isSeat = ({ kind }: Expected) => kind === 'registered' || kind === 'existing';

/** Returns the outcome for a replay: an attendee's existing seat is answered like a new one. */
function rememberedAs(outcome: Expected | SeatOutcome): Expected {
  return (
    outcome.kind === 'existing' ? { ...outcome, kind: 'registered', replayed: false } : outcome
  ) as Expected;
}

function replayOf(answer: ExpectedOfBulk): ExpectedOfBulk {
  if (answer.kind === 'key-reused') return answer;
  const outcomes = answer.outcomes.map((outcome) => ({ ...outcome, replayed: true }) as Expected);
  return { kind: 'bulk', outcomes, replayed: true };
}

/** Returns the idempotency key with its scope, or null without a key. */
export function scopedKey(submission: Submission): string | null {
  const { partnerId, eventId } = isBulk(submission) ? submission.reservations[0]! : submission;
  return submission.idempotency && `${partnerId}/${eventId}/${submission.idempotency.key}`;
}
