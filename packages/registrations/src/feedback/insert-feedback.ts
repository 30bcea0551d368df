import type { Database } from '@floodgate/database';

/** Stores a partner's feedback. Returns its id. */
export async function insertFeedback(
  db: Database,
  partnerId: number,
  eventId: number,
  text: string,
): Promise<number> {
  const { id } = await db
    .insertInto('feedback')
    .values({ partner_id: partnerId, event_id: eventId, text })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
