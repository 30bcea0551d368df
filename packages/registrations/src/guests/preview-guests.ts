import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { digestFor } from '../register/reservation.ts';
import type { Guest } from './guest.ts';
import { duplicateAt, registerGuests, type GuestOutcome } from './register-guests.ts';

/** Says what would become of guests. */
export type PreviewGuests = (guests: readonly Guest[]) => Promise<GuestOutcome[]>;

/**
 * Returns a function that says what would become of guests if they were registered now, after those of its
 * earlier calls. The function that registers them is the same and rolls back, so no rule is written twice. Each
 * call locks the tickets as long as a registration does.
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
    const outcomes = fresh.length > 0 ? await preview(db, event, fresh, sold) : [];
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

const preview = (
  db: Database,
  event: Event,
  guests: readonly Guest[],
  previewAfter: ReadonlyMap<number, number>,
): Promise<GuestOutcome[]> =>
  // A transaction, because it locks the guests of the event.
  db.transaction().execute((transaction) => registerGuests(transaction, event.id, guests, { previewAfter }));
