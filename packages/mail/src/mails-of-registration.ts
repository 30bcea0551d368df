import type { Database, DeliveryState } from '@floodgate/database';
import { CANCELLATION, CONFIRMATION, EVENT_UPDATED } from '@floodgate/events';
import { findByPassReference } from '@floodgate/registrations/list';
import { sql } from 'kysely';
import { whyOf } from './failure-words.ts';

/** The kinds of e-mails about one registration. */
export const REGISTRATION_KINDS = [CONFIRMATION, EVENT_UPDATED, CANCELLATION] as const;

/** The state of one e-mail. */
export interface MailOfRegistration {
  kind: (typeof REGISTRATION_KINDS)[number];
  state: DeliveryState;
  queuedAt: Date;
  /** When it was sent last; null if it never was. */
  sentAt: Date | null;
  attempts: number;
  possiblyTwice: boolean;
  reason: string | null;
  /** The reason in words. */
  why: string | null;
}

/** Returns the e-mails about a registration, the oldest first. Throws NotFound if there is none. */
export async function mailsOfRegistration(
  db: Database,
  passReference: string,
): Promise<MailOfRegistration[]> {
  const { row, shardId } = await findByPassReference(db, passReference);
  const { rows } = await sql<Omit<MailOfRegistration, 'why'>>`
    select kind, state, created_at as "queuedAt", sent_at as "sentAt", attempts, possibly_twice as "possiblyTwice",
      reason
    from deliveries
    where shard_id = ${shardId} and event_id = ${row.eventId}
      and kind in (${sql.join(REGISTRATION_KINDS)}) and subject = ${String(row.serial)}
    order by created_at, kind`.execute(db);
  return rows.map((mail) => ({ ...mail, why: whyOf(mail.reason) }));
}
