import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { digestFor } from '../register/reservation.ts';
import type { Guest } from './guest.ts';
import { duplicateAt, registerGuests, type GuestOutcome } from './register-guests.ts';

/** Says what would become of guests. */
export type PreviewGuests = (guests: readonly Guest[]) => Promise<GuestOutcome[]>;

/** Ends a transaction that must store nothing. */
class RolledBack extends Error {
  readonly outcomes: GuestOutcome[];

  constructor(outcomes: GuestOutcome[]) {
    super('a preview stores nothing');
    this.outcomes = outcomes;
  }
}

/**
 * Returns a function that says what would become of guests if they were registered now, after those of its
 * earlier calls. It registers them and rolls back, so no rule is written twice. Each call locks the tickets as
 * long as a registration does.
 */
export function guestPreview(db: Database, event: Event): PreviewGuests {
  /** By ticket: the seats of earlier calls. */
  const sold = new Map<number, number>();
  /** The attendees of earlier calls, who can register once. */
  const digests = new Set<string>();
  return async (guests) => {
    const digestOf = (guest: Guest) => digestFor(event, guest.organizedEventTicketID, guest);
    const isKnown = guests.map((guest) => digests.has(digestOf(guest) ?? ''));
    const fresh = guests.filter((_, index) => !isKnown[index]);
    const outcomes = fresh.length > 0 ? await rollBack(db, event, fresh, sold) : [];
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.kind !== 'registered') continue;
      const { organizedEventTicketID: ticketId } = fresh[index]!;
      sold.set(ticketId, (sold.get(ticketId) ?? 0) + 1);
      const digest = digestOf(fresh[index]!);
      if (digest !== null) digests.add(digest);
    }
    const next = outcomes.values();
    return isKnown.map((known) => (known ? duplicateAt(event) : next.next().value!));
  };
}

/** Registers guests after others, and rolls back. */
async function rollBack(
  db: Database,
  event: Event,
  guests: readonly Guest[],
  sold: ReadonlyMap<number, number>,
) {
  const run = db.transaction().execute(async (transaction): Promise<never> => {
    throw new RolledBack(await registerGuests(transaction, event.id, guests, { sold }));
  });
  return run.catch((error: unknown) => {
    if (error instanceof RolledBack) return error.outcomes;
    throw error;
  });
}
