import type { Outcome, Refusal, Reservation } from '@floodgate/registrations';

/** A ticket as the model sees it. */
export interface ModelTicket {
  id: number;
  eventId: number;
  capacity: number;
  taken: number;
  onSale: boolean;
}

/** A seat that was granted, with what must be found stored for it. */
export interface ModelRegistration extends Reservation {
  serial: number;
  batchId: string;
  position: number;
  cancelled: boolean;
}

/** What the model expects; a seat's serial is Postgres's to choose, so a new one is not predicted. */
type Expected = Refused | { kind: 'key-reused' } | Registered;
type Refused = { kind: Refusal; replayed: boolean };
type Registered = { kind: 'registered'; passCode: number; replayed: boolean; serial?: number };

interface Remembered {
  fingerprint: string;
  answer: Expected;
}

/** Says in plain steps, one reservation after the other, what reserveBatch has to do in one statement. */
export class ReservationModel {
  readonly tickets: ModelTicket[];
  readonly registrations: ModelRegistration[] = [];
  readonly #remembered = new Map<string, Remembered>();

  constructor(tickets: ModelTicket[]) {
    this.tickets = tickets;
  }

  /** What the reservation comes to if it is the next one. */
  expect(reservation: Reservation): Expected {
    const first = this.#remembered.get(scopedKey(reservation) ?? '');
    if (first && first.fingerprint !== reservation.idempotency?.fingerprint) return { kind: 'key-reused' };
    if (first) return { ...first.answer, replayed: true } as Expected;
    const ticket = this.#ticketOf(reservation);
    if (!ticket) return { kind: 'no-such-ticket', replayed: false };
    if (!ticket.onSale) return { kind: 'not-on-sale', replayed: false };
    if (this.#isDuplicate(reservation)) return { kind: 'duplicate', replayed: false };
    if (ticket.taken >= ticket.capacity) return { kind: 'sold-out', replayed: false };
    return { kind: 'registered', passCode: reservation.passCode, replayed: false };
  }

  /** Takes over what became of the reservation. */
  record(reservation: Reservation, outcome: Outcome, batchId: string, position: number): void {
    if (outcome.kind === 'key-reused' || !('replayed' in outcome) || outcome.replayed) return;
    const key = scopedKey(reservation);
    if (key) {
      this.#remembered.set(key, { fingerprint: reservation.idempotency!.fingerprint, answer: outcome });
    }
    if (outcome.kind !== 'registered') return;
    this.#ticketOf(reservation)!.taken += 1;
    this.registrations.push({
      ...reservation,
      serial: outcome.serial,
      batchId,
      position,
      cancelled: false,
    });
  }

  cancel(registration: ModelRegistration): void {
    registration.cancelled = true;
    this.#ticketOf(registration)!.taken -= 1;
  }

  forgetKeys(): void {
    this.#remembered.clear();
  }

  #ticketOf({ ticketId, eventId }: Reservation): ModelTicket | undefined {
    return this.tickets.find((ticket) => ticket.id === ticketId && ticket.eventId === eventId);
  }

  #isDuplicate({ eventId, attendeeDigest }: Reservation): boolean {
    return this.registrations.some(
      (earlier) =>
        attendeeDigest !== null &&
        !earlier.cancelled &&
        earlier.eventId === eventId &&
        earlier.attendeeDigest === attendeeDigest,
    );
  }
}

/** The idempotency key with what it is scoped to; null where there is none. */
export function scopedKey({ partnerId, eventId, idempotency }: Reservation): string | null {
  return idempotency && `${partnerId}/${eventId}/${idempotency.key}`;
}
