import type { Database, DeliveryState } from '@floodgate/database';
import { CANCELLATION, CONFIRMATION, EVENT_UPDATED } from '@floodgate/events';
import { findByPassReference } from '@floodgate/registrations/list';
import { sql } from 'kysely';
import { stepsOf, whyOf, type Step, type Undelivered } from './failure-words.ts';
import { findSuppressions } from './suppressions.ts';

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
  /** The operator's remedy. Empty: it was sent, or is sent soon. */
  steps: Step[];
  /** Stands for the address in the list of those that get no e-mails. Null: the address gets them. */
  suppressionDigest: string | null;
}

/** Returns the e-mails about a registration, the oldest first. Throws NotFound if there is none. */
export async function mailsOfRegistration(
  db: Database,
  passReference: string,
): Promise<MailOfRegistration[]> {
  const { row, shardId } = await findByPassReference(db, passReference);
  const { rows } = await sql<Omit<MailOfRegistration, 'why' | 'steps' | 'suppressionDigest'>>`
    select kind, state, created_at as "queuedAt", sent_at as "sentAt", attempts, possibly_twice as "possiblyTwice",
      reason
    from deliveries
    where shard_id = ${shardId} and event_id = ${row.eventId}
      and kind in (${sql.join(REGISTRATION_KINDS)}) and subject = ${String(row.serial)}
    order by created_at, kind`.execute(db);
  const suppression = await findSuppression(db, shardId, row.serial);
  return rows.map((mail) => ({
    ...mail,
    why: whyOf(mail.reason),
    steps: stepsOfMail(mail, passReference, suppression),
    suppressionDigest: suppression?.digest ?? null,
  }));
}

async function findSuppression(db: Database, shardId: number, serial: number) {
  const { rows } = await sql<{ address: string | null }>`
    select email_address as address from registrations
    where shard_id = ${shardId} and serial = ${serial}`.execute(db);
  const address = rows[0]?.address;
  return address ? (await findSuppressions(db, [address])).get(address) : undefined;
}

/** Returns what an operator can do about an e-mail that was not sent, or whose tries failed. */
function stepsOfMail(
  { kind, state, reason }: Pick<MailOfRegistration, 'kind' | 'state' | 'reason'>,
  passReference: string,
  suppression: Undelivered['suppression'],
) {
  const undelivered = { kind, reason, passReference, suppression };
  if (state === 'undeliverable' || state === 'suppressed') return stepsOf({ ...undelivered, state });
  return state === 'retry' ? stepsOf({ ...undelivered, state: 'waiting' }) : [];
}
