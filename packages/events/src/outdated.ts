import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** A change of the name, time or place of an event of which its holders were not told yet. */
export interface Outdated {
  /** When an operator made the change. */
  at: Date;
  /** E-mails with the old name, time or place that had been sent before the change. */
  outdatedEmails: number;
}

/**
 * Returns the last change of which the holders of an event were not told yet. Null: there is none. It reads the
 * audit log, because counting the e-mails of a large event would take too long for a page.
 */
export async function findOutdated(db: Database, eventId: number): Promise<Outdated | null> {
  const { rows } = await sql<{ at: Date; outdatedEmails: number | null }>`
    select at, (after ->> 'outdatedEmails')::integer as "outdatedEmails"
    from audit_log
    where event_id = ${eventId}
      and (action = 'event.notify-holders' or action = 'event.update' and after ? 'outdatedEmails')
    order by id desc limit 1`.execute(db);
  const [latest] = rows;
  return latest?.outdatedEmails ? { at: latest.at, outdatedEmails: latest.outdatedEmails } : null;
}
