import { askShards, shardIds, textArray, type ConsumerState, type Database } from '@floodgate/database';
import { EVENT_KINDS } from '@floodgate/events';
import { sql } from 'kysely';

/** No page needs a larger number: it says that there are more. */
export const MOST_COUNTED = 10_000;

/**
 * The e-mails of an event that are not sent. Counts end at one more than MOST_COUNTED, so this costs the same
 * however many e-mails the event has.
 */
export interface MailBacklog extends Record<'waiting' | 'retried' | 'undeliverable' | 'suppressed', number> {
  eventId: number;
  /** Whether e-mails are sent, paused or disabled. */
  state: ConsumerState;
}

/**
 * Returns the e-mails that are not sent of all events with enabled e-mails, or of those of `events`, and the
 * shards that did not answer.
 */
export async function readMailBacklog(
  db: Database,
  events?: readonly number[],
): Promise<{ events: MailBacklog[]; away: number[] }> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    // Each condition implies that of a partial index.
    const count = (condition: string) => sql`(
      select count(*)::integer from (
        select from deliveries d
        where d.shard_id = ${shardId} and d.event_id = c.event_id and ${sql.raw(condition)}
          and d.kind = any(${textArray(EVENT_KINDS)}::text[])
        limit ${MOST_COUNTED + 1}
      ) counted
    )`;
    const { rows } = await sql<MailBacklog>`
      select c.event_id as "eventId", c.state,
        ${count("d.state in ('queued', 'retry', 'sending')")} as waiting,
        ${count("d.state = 'retry'")} as retried,
        ${count("d.state = 'undeliverable'")} as undeliverable,
        ${count("d.state = 'suppressed'")} as suppressed
      from journal_consumers c
      where c.shard_id = ${shardId} and c.kind = 'mail'
        and ${events === undefined ? sql`true` : sql`c.event_id = any(${events}::integer[])`}
      order by c.event_id`.execute(db);
    return rows;
  });
  return { events: answers.flat(), away };
}
