import { textArray, type ConsumerState, type Database } from '@floodgate/database';
import { EVENT_KINDS, findEvent } from '@floodgate/events';
import { sql } from 'kysely';

/** Whether an event sends e-mails, and how many of them reached nobody. */
export interface MailSummary {
  eventId: number;
  /** 'off': e-mails of the event are disabled. */
  state: ConsumerState | 'off';
  /** E-mails that were refused, not sent or are tried again, at most `MOST_UNDELIVERED`. */
  undelivered: number;
  /** Whether there are more than `undelivered`. */
  moreUndelivered: boolean;
}

/** Nobody needs to know whether 1,000 or 900,000 e-mails failed before looking at the list. */
const MOST_UNDELIVERED = 1_000;

/**
 * Returns whether an event sends e-mails, and how many were not delivered. It takes the same time for an event
 * of any size. Throws NotFound if there is no such event.
 */
export async function readMailSummary(db: Database, eventId: number): Promise<MailSummary> {
  const { shardId } = await findEvent(db, eventId);
  // The condition on the state is that of the index deliveries_failed.
  const { rows } = await sql<{ state: ConsumerState | null; undelivered: number }>`
    select
      (
        select state from journal_consumers
        where shard_id = ${shardId} and event_id = ${eventId} and partner_id = 0 and kind = 'mail' limit 1
      ) as state,
      (
        select count(*)::integer from (
          select from deliveries
          where shard_id = ${shardId} and event_id = ${eventId} and kind = any(${textArray(EVENT_KINDS)}::text[])
            and (state in ('undeliverable', 'suppressed', 'retry') or state = 'queued' and reason is not null)
          limit ${MOST_UNDELIVERED + 1}
        ) failed
      ) as undelivered`.execute(db);
  const { state, undelivered } = rows[0]!;
  return {
    eventId,
    state: state ?? 'off',
    undelivered: Math.min(undelivered, MOST_UNDELIVERED),
    moreUndelivered: undelivered > MOST_UNDELIVERED,
  };
}
