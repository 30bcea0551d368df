import type { Database } from '@floodgate/database';

/** Returns the latest entries, newest first: at most `limit`, from `since` on, of one subject where one is named. */
export async function readAuditLog(
  db: Database,
  { since, subject, limit }: { since?: Date | undefined; subject?: string | undefined; limit: number },
) {
  return db
    .selectFrom('audit_log')
    .select(['id', 'at', 'actor', 'action', 'subject', 'before', 'after'])
    .$if(since !== undefined, (query) => query.where('at', '>=', since!))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject!))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
