import { askShards, shardIds, type Database, type DeliveryState } from '@floodgate/database';
import { lagOf } from '@floodgate/journal';
import { sql } from 'kysely';
import { CONFIRMATION } from './kinds/confirmation.ts';
import { EVENT_UPDATED } from './kinds/event-updated.ts';
import type { MailSwitch } from './switch.ts';

/** Progress of an event's e-mails. */
export interface MailStatus {
  eventId: number;
  state: MailSwitch;
  /** Age of the oldest confirmation whose e-mail was not attempted; null: none waits. */
  oldestMs: number | null;
  /** Age of the oldest confirmation whose e-mail was refused for now. */
  oldestRetryMs: number | null;
  /** E-mails to attendees, by state. */
  queued: number;
  sent: number;
  retry: number;
  undeliverable: number;
  suppressed: number;
  cancelled: number;
  possiblySentTwice: number;
  /** Reasons of e-mails that were refused or not sent, with the number of each. */
  reasons: Record<string, number>;
}

interface Count {
  state: DeliveryState;
  reason: string | null;
  possiblyTwice: boolean;
  count: number;
}

/** Returns the progress of all events whose e-mails are switched on, or of one event. */
export async function readMailStatus(db: Database, ofEvent?: number) {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const consumers = db
      .selectFrom('journal_consumers')
      .select(['event_id as eventId', 'partner_id as partnerId', 'last_offset as cursor', 'state'])
      .where('shard_id', '=', shardId)
      .where('kind', '=', 'mail')
      .orderBy('event_id');
    const wanted = ofEvent === undefined ? consumers : consumers.where('event_id', '=', ofEvent);
    const found: MailStatus[] = [];
    for (const { partnerId, cursor, eventId, state } of await wanted.execute()) {
      const unreadMs = await lagOf(db, { shardId, eventId, partnerId, cursor });
      const { untriedMs, oldestRetryMs } = await oldestOf(db, shardId, eventId);
      const oldestMs = unreadMs === null ? untriedMs : Math.max(unreadMs, untriedMs ?? 0);
      found.push({
        eventId,
        state,
        oldestMs,
        oldestRetryMs,
        ...(await countDeliveries(db, shardId, eventId)),
      });
    }
    return found;
  });
  return { events: answers.flat(), away };
}

/** Returns the ages of the oldest e-mails that wait: those that were not attempted, and those that were refused for now. */
async function oldestOf(db: Database, shardId: number, eventId: number) {
  const age = (which: ReturnType<typeof sql>) =>
    sql`extract(epoch from now() - min(created_at) filter (where ${which}))::float8 * 1000`;
  const { rows } = await sql<{ untriedMs: number | null; oldestRetryMs: number | null }>`
    select ${age(sql`attempts = 0`)} as "untriedMs", ${age(sql`attempts > 0`)} as "oldestRetryMs"
    from deliveries
    where shard_id = ${shardId} and kind in (${CONFIRMATION}, ${EVENT_UPDATED}) and event_id = ${eventId}
      and state in ('queued', 'retry', 'sending')`.execute(db);
  return rows[0]!;
}

async function countDeliveries(db: Database, shardId: number, eventId: number) {
  const { rows } = await sql<Count>`
    select state, reason, possibly_twice as "possiblyTwice", count(*) as count from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind in (${CONFIRMATION}, ${EVENT_UPDATED})
    group by state, reason, possibly_twice`.execute(db);
  const sum = (which: (row: Count) => boolean) =>
    rows.filter(which).reduce((total, { count }) => total + count, 0);
  const inState = (...states: DeliveryState[]) => sum(({ state }) => states.includes(state));
  const reasons: Record<string, number> = {};
  for (const { reason, count } of rows) if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + count;
  return {
    queued: inState('queued', 'sending'),
    sent: inState('sent'),
    retry: inState('retry'),
    undeliverable: inState('undeliverable'),
    suppressed: inState('suppressed'),
    cancelled: inState('cancelled'),
    possiblySentTwice: sum(({ state, possiblyTwice }) => possiblyTwice && state === 'sent'),
    reasons,
  };
}
