import type { Database } from '@floodgate/database';
import { countSent, queueFollowUps } from '@floodgate/deliveries';

/** The kind of delivery that brings an attendee their pass. Its subject is the registration's serial. */
export const CONFIRMATION = 'confirmation';
/** The kind of delivery that tells holders of a pass that the event has changed. */
export const EVENT_UPDATED = 'event-updated';

interface ChangedEvent {
  id: number;
  shardId: number;
  revision: number;
}

/** Returns how many registrations have had an e-mail with their pass. */
export const countHolders = (db: Database, { id, shardId }: Omit<ChangedEvent, 'revision'>) =>
  countSent(db, { shardId, eventId: id, kind: CONFIRMATION });

/**
 * Queues an e-mail with the new time and place to every registration whose confirmation said something older. Returns how many. Call it
 * after the change is committed: every confirmation that was not begun before then says the new time and place by itself.
 */
export const queueEventUpdates = (db: Database, { id, shardId, revision }: ChangedEvent): Promise<number> =>
  queueFollowUps(db, { shardId, eventId: id, kind: EVENT_UPDATED }, { after: CONFIRMATION, revision });
