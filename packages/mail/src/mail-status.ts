import { askShards, shardIds, type Database } from '@floodgate/database';
import { readShardLags } from '@floodgate/journal';
import { sql } from 'kysely';
import type { MailSwitch } from './switch.ts';

/** How far the e-mails of an event are. */
export interface MailStatus {
  eventId: number;
  state: MailSwitch;
  /** Age of the oldest registration whose e-mail was not tried; null: none waits for that. */
  oldestMs: number | null;
  /** Age of the oldest registration whose e-mail was refused for now. */
  oldestRetryMs: number | null;
  sent: number;
  /** To be tried again. */
  retry: number;
  undeliverable: number;
  skipped: number;
  /** May have been sent twice. */
  doubtful: number;
  /** Why e-mails were refused or not sent, and how many of each. */
  reasons: Record<string, number>;
}

interface Count {
  state: 'sent' | 'retry' | 'undeliverable' | 'skipped';
  reason: string | null;
  doubtful: boolean;
  count: number;
}

/** Returns how far the e-mails of all events are that have them switched on, or of one event. */
export async function readMailStatus(db: Database, eventId?: number) {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const consumers = db
      .selectFrom('journal_consumers')
      .select(['id', 'event_id as eventId', 'state'])
      .where('shard_id', '=', shardId)
      .where('kind', '=', 'mail')
      .where('state', '<>', 'disabled')
      .orderBy('event_id');
    const wanted = eventId === undefined ? consumers : consumers.where('event_id', '=', eventId);
    const found: MailStatus[] = [];
    const lags = new Map((await readShardLags(db, shardId)).map((lag) => [lag.id, lag]));
    for (const { id, ...consumer } of await wanted.execute())
      found.push({
        ...consumer,
        oldestMs: lags.get(id)?.oldestMs ?? null,
        oldestRetryMs: lags.get(id)?.oldestRetryMs ?? null,
        ...(await countDeliveries(db, shardId, consumer.eventId)),
      });
    return found;
  });
  return { events: answers.flat(), away };
}

async function countDeliveries(db: Database, shardId: number, eventId: number) {
  const { rows } = await sql<Count>`
    select state, reason, doubtful, count(*) as count from mail_deliveries
    where shard_id = ${shardId} and event_id = ${eventId} group by state, reason, doubtful`.execute(db);
  const sum = (which: (row: Count) => boolean) =>
    rows.filter(which).reduce((total, { count }) => total + count, 0);
  const reasons: Record<string, number> = {};
  for (const { reason, count } of rows) if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + count;
  return {
    sent: sum(({ state }) => state === 'sent'),
    retry: sum(({ state }) => state === 'retry'),
    undeliverable: sum(({ state }) => state === 'undeliverable'),
    skipped: sum(({ state }) => state === 'skipped'),
    doubtful: sum(({ state, doubtful }) => doubtful && state === 'sent'),
    reasons,
  };
}
