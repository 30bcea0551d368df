import { sql } from 'kysely';
import type { AuditedState, Database } from '@floodgate/database';

/** What became of one thing. Never a secret or its hash, and nothing of an attendee's. */
export interface Change {
  /** The kind and the id, as in "ticket:7". */
  subject: string;
  /** Absent: it was not there. */
  before?: AuditedState;
  after?: AuditedState;
}

/** Notes changes, one row each; `db` is the transaction that makes them. */
export async function insertAuditEntries(db: Database, actor: string, action: string, changes: Change[]) {
  if (changes.length === 0) return;
  await sql`
    insert into audit_log (actor, action, subject, before, after)
    select ${actor}, ${action}, subject, before, after
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (subject text, before jsonb, after jsonb)`.execute(
    db,
  );
}

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
