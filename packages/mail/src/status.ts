import {
  askShards,
  shardIds,
  textArray,
  type ConsumerState,
  type Database,
  type DeliveryState,
} from '@floodgate/database';
import { EVENT_KINDS, type Event } from '@floodgate/events';
import { unreadMsOf } from '@floodgate/journal';
import { sql } from 'kysely';

/** Progress of an event's e-mails. */
export interface MailStatus extends Progress {
  eventId: number;
  state: ConsumerState;
}

/** Ages in milliseconds and counts of the e-mails of an event. */
interface Progress extends Record<'queued' | FinishedState, number> {
  /** Age of the oldest e-mail that was not attempted; null if none waits. */
  oldestMs: number | null;
  /** How long the oldest e-mail that is retried has failed; null if none is retried. */
  oldestRetryMs: number | null;
  possiblySentTwice: number;
  /** Reasons of e-mails that were refused or not sent, with the number of each. */
  reasons: Record<string, number>;
}

type FinishedState = Exclude<DeliveryState, 'queued' | 'sending'>;

/** E-mails of an event that are alike. */
interface Count {
  state: DeliveryState;
  reason: string | null;
  possiblyTwice: boolean;
  isTried: boolean;
  count: number;
  oldestMs: number;
}

interface StatusRow extends Pick<MailStatus, 'eventId' | 'state'> {
  /** Age of the oldest journal entry that was not queued; null if there is none. */
  unreadMs: number | null;
  counts: readonly Count[];
}

/** Returns whether the e-mails of an event are active, paused or disabled. Undefined: they were never enabled. */
export async function findMailState(db: Database, { id, shardId }: Pick<Event, 'id' | 'shardId'>) {
  const consumer = await db
    .selectFrom('journal_consumers')
    .select('state')
    .where((where) => where.and({ shard_id: shardId, event_id: id, kind: 'mail' }))
    .executeTakeFirst();
  return consumer?.state;
}

/**
 * Returns the progress of all events with enabled e-mails, of one event, or of those of `events`, and the
 * shards that did not answer.
 */
export async function readMailStatus(
  db: Database,
  ofEvent?: number,
  events?: readonly number[],
): Promise<{ events: MailStatus[]; away: number[] }> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    // With `offset 0`, Postgres looks up the journal and the e-mails of each event.
    const { rows } = await sql<StatusRow>`
      select c.event_id as "eventId", c.state, journal."unreadMs", mails.counts
      from journal_consumers c
      cross join lateral (select ${unreadMsOf(shardId, 'c')} as "unreadMs" offset 0) journal
      cross join lateral (
        select coalesce(json_agg(alike), '[]') as counts
        from (
          select state, reason, possibly_twice as "possiblyTwice", attempts > 0 as "isTried", count(*) as count,
            extract(epoch from now() - min(coalesce(failing_since, created_at)))::float8 * 1000 as "oldestMs"
          from deliveries
          where deliveries.shard_id = ${shardId} and deliveries.event_id = c.event_id
            and deliveries.kind = any(${textArray(EVENT_KINDS)}::text[])
          group by 1, 2, 3, 4
        ) alike
      ) mails
      where c.shard_id = ${shardId} and c.kind = 'mail'
        and ${ofEvent === undefined ? sql`true` : sql`c.event_id = ${ofEvent}`}
        and ${events === undefined ? sql`true` : sql`c.event_id = any(${events}::integer[])`}
      order by c.event_id`.execute(db);
    return rows.map(({ eventId, state, ...row }) => ({ eventId, state, ...progressOf(row) }));
  });
  return { events: answers.flat(), away };
}

const UNFINISHED: ReadonlySet<DeliveryState> = new Set(['queued', 'retry', 'sending']);

function progressOf({ unreadMs, counts }: Pick<StatusRow, 'unreadMs' | 'counts'>): Progress {
  const progress: Progress = {
    oldestMs: unreadMs,
    oldestRetryMs: null,
    queued: 0,
    sent: 0,
    retry: 0,
    undeliverable: 0,
    suppressed: 0,
    cancelled: 0,
    possiblySentTwice: 0,
    reasons: {},
  };
  for (const { state, reason, possiblyTwice, isTried, count, oldestMs } of counts) {
    const age = isTried ? 'oldestRetryMs' : 'oldestMs';
    if (UNFINISHED.has(state)) progress[age] = Math.max(progress[age] ?? 0, oldestMs);
    progress[state === 'sending' ? 'queued' : state] += count;
    if (possiblyTwice && state === 'sent') progress.possiblySentTwice += count;
    if (reason !== null) progress.reasons[reason] = (progress.reasons[reason] ?? 0) + count;
  }
  return progress;
}

/** Returns the addresses that get no more e-mails, the newest first. */
export const listSuppressions = (db: Database) =>
  db
    .selectFrom('mail_suppressions')
    .select(['digest', 'reason', 'event_id as eventId', 'at'])
    .orderBy('at', 'desc')
    .orderBy('digest')
    .execute();
