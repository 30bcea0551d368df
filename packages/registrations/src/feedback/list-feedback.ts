import type { Database } from '@floodgate/database';

/** Returns the feedback of an event, the latest last. */
export function listFeedback(db: Database, eventId: number) {
  return db
    .selectFrom('feedback')
    .select(['id', 'text', 'forwarded_at as forwardedAt'])
    .where('event_id', '=', eventId)
    .orderBy('id')
    .execute();
}
