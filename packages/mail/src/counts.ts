import { textArray, type ConsumerState, type Database, type DeliveryState } from '@floodgate/database';
import { EVENT_KINDS, findEvent } from '@floodgate/events';
import { sql } from 'kysely';

/** E-mails of a kind are counted up to here, so that a page about a large event stays fast. */
const COUNTED = 50_000;

/** The e-mails of an event that are of one kind and in one state. */
export interface MailCount {
  kind: (typeof EVENT_KINDS)[number];
  state: DeliveryState;
  count: number;
}

/** Whether e-mails of an event are sent, and how many there are. */
export interface MailCounts {
  eventId: number;
  switch: ConsumerState | 'off';
  counts: MailCount[];
  /** Kinds of which there are more e-mails than were counted. */
  uncounted: MailCount['kind'][];
}

/**
 * Returns the switch of the e-mails of an event, and their number by kind and state. Of each kind, 50,000 are
 * counted at most. Throws NotFound if there is no such event.
 */
export async function countMails(db: Database, eventId: number): Promise<MailCounts> {
  const { shardId } = await findEvent(db, eventId);
  const consumer = db
    .selectFrom('journal_consumers')
    .select('state')
    .where((where) => where.and({ shard_id: shardId, event_id: eventId, kind: 'mail' }));
  // In the order of the primary key, so the limit ends the scan.
  const { rows } = await sql<MailCount>`
    select counted.kind, counted.state, count(*)::integer as count
    from unnest(${textArray(EVENT_KINDS)}::text[]) as wanted (kind)
    cross join lateral (
      select kind, state from deliveries
      where shard_id = ${shardId} and event_id = ${eventId} and kind = wanted.kind
      order by subject limit ${COUNTED + 1}
    ) counted
    group by counted.kind, counted.state order by counted.kind, counted.state`.execute(db);
  const totalOf = (kind: MailCount['kind']) =>
    rows.reduce((total, row) => total + (row.kind === kind ? row.count : 0), 0);
  return {
    eventId,
    switch: (await consumer.executeTakeFirst())?.state ?? 'off',
    counts: rows,
    uncounted: EVENT_KINDS.filter((kind) => totalOf(kind) > COUNTED),
  };
}
