import { askShards, shardIds, textArray, type Database, type DeliveryState } from '@floodgate/database';
import { EVENT_KINDS } from '@floodgate/events';
import { lagOf } from '@floodgate/journal';
import { sql } from 'kysely';

/** Progress of an event's e-mails. */
export type MailStatus = Awaited<ReturnType<typeof readMailStatus>>['events'][number];

/** Returns the progress of all events with enabled e-mails, or of one event. */
export async function readMailStatus(db: Database, ofEvent?: number) {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const consumers = await db
      .selectFrom('journal_consumers')
      .select(['event_id as eventId', 'partner_id as partnerId', 'last_offset as cursor', 'state'])
      .where('shard_id', '=', shardId)
      .where('kind', '=', 'mail')
      .$if(ofEvent !== undefined, (query) => query.where('event_id', '=', ofEvent!))
      .orderBy('event_id')
      .execute();
    const found = [];
    for (const { state, eventId, ...consumer } of consumers) {
      const unreadMs = await lagOf(db, { shardId, eventId, ...consumer });
      found.push({ eventId, state, ...(await countDeliveries(db, shardId, eventId, unreadMs)) });
    }
    return found;
  });
  return { events: answers.flat(), away };
}

interface Count {
  state: DeliveryState;
  reason: string | null;
  possiblyTwice: boolean;
  isTried: boolean;
  count: number;
  oldestMs: number;
}

async function countDeliveries(db: Database, shardId: number, eventId: number, unreadMs: number | null) {
  const { rows } = await sql<Count>`
    select state, reason, possibly_twice as "possiblyTwice", attempts > 0 as "isTried", count(*) as count,
      extract(epoch from now() - min(coalesce(failing_since, created_at)))::float8 * 1000 as "oldestMs"
    from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = any(${textArray(EVENT_KINDS)}::text[])
    group by state, reason, possibly_twice, attempts > 0`.execute(db);
  /** Age of the oldest e-mail that was not attempted, and since when the oldest that is retried fails; null if none waits. */
  const ages = { oldestMs: unreadMs, oldestRetryMs: null as number | null };
  const counts = { queued: 0, sent: 0, retry: 0, undeliverable: 0, suppressed: 0, cancelled: 0 };
  let possiblySentTwice = 0;
  /** Reasons of e-mails that were refused or not sent, with the number of each. */
  const reasons = new Map<string, number>();
  for (const { state, reason, possiblyTwice, isTried, count, oldestMs } of rows) {
    const age = isTried ? 'oldestRetryMs' : 'oldestMs';
    if (['queued', 'retry', 'sending'].includes(state)) ages[age] = Math.max(ages[age] ?? 0, oldestMs);
    counts[state === 'sending' ? 'queued' : state] += count;
    if (possiblyTwice && state === 'sent') possiblySentTwice += count;
    if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
  return { ...ages, ...counts, possiblySentTwice, reasons: Object.fromEntries(reasons) };
}

/** Returns the addresses that get no more e-mails, the newest first. */
export const listSuppressions = (db: Database) =>
  db
    .selectFrom('mail_suppressions')
    .select(['digest', 'reason', 'event_id as eventId', 'at'])
    .orderBy('at', 'desc')
    .orderBy('digest')
    .execute();
