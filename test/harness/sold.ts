import { randomUUID } from 'node:crypto';
import { reserveBatch, type Reservation } from '@floodgate/registrations';
import type { Database } from '@floodgate/database';
import type { Fixture } from './fixture.ts';
import { reservationOf } from './reservation.ts';

const PER_BATCH = 250;

/** Sells seats of a ticket, each to a person of its own. Returns the serials. The batches are not finalized. */
export async function sell(
  db: Database,
  fixture: Pick<Fixture, 'shardId' | 'partnerId' | 'eventId'>,
  ticketId: number,
  count: number,
  differing: Partial<Reservation> = {},
): Promise<number[]> {
  const serials: number[] = [];
  for (let first = 0; first < count; first += PER_BATCH) {
    const reservations = Array.from({ length: Math.min(PER_BATCH, count - first) }, (_, index) =>
      reservationOf(fixture, ticketId, { emailAddress: `guest${first + index}@example.com`, ...differing }),
    );
    for (const outcome of await reserveBatch(db, randomUUID(), reservations)) {
      if (outcome.kind !== 'registered') throw new Error(`a seat was not sold: ${outcome.kind}`);
      serials.push(outcome.serial);
    }
  }
  return serials;
}
