import { sql, type RawBuilder } from 'kysely';

/**
 * Whose entries: all of a shard's, those of one of its events, or those of one partner under that event, with or without the
 * event's own, about its tickets.
 */
export type JournalScope = { shardId: number } & (
  | { eventId?: undefined; partnerId?: undefined; withTickets?: undefined }
  | {
      eventId: number;
      /** 0: the event's own entries, about its tickets. */ partnerId?: number | undefined;
      withTickets?: boolean;
    }
);

/**
 * Returns the query of the first `limit` segments that end after the offset `after`, in order. It reads no others; of an event,
 * as many of each of its partners.
 */
export function selectSegments(scope: JournalScope, after: number, limit: number): RawBuilder<unknown> {
  const { shardId, eventId, partnerId, withTickets } = scope;
  // Limits stand in the text: without knowing them, Postgres might rather read and sort everything.
  if (eventId === undefined)
    return sql`
      select * from journal_segments
      where shard_id = ${shardId} and last_offset > ${after}::bigint
      order by last_offset limit ${sql.lit(limit)}`;
  // Compared and sorted as rows, so that only the index of a partner's segments will do. With the key, which is sorted by offset
  // as well, Postgres would read through those of everybody else.
  const ofPartner = (partner: RawBuilder<unknown>) => sql`
    select * from journal_segments
    where shard_id = ${shardId}
      and (event_id, partner_id, last_offset) > (${eventId}::integer, ${partner}, ${after}::bigint)
      and (event_id, partner_id, last_offset) < (${eventId}::integer, ${partner} + 1, 0)
    order by event_id, partner_id, last_offset limit ${sql.lit(limit)}`;
  const own = ofPartner(sql`${partnerId}::integer`);
  if (withTickets)
    return sql`
      select * from ((${own}) union all (${ofPartner(sql`0`)})) segment
      order by last_offset limit ${sql.lit(limit)}`;
  if (partnerId !== undefined) return own;
  // From partner to partner, as many as the event has.
  const nextPartner = (previous: RawBuilder<unknown>) => sql`
    select min(partner_id) from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId}::integer and partner_id > ${previous}`;
  return sql`
    with recursive partner (id) as (
      (${nextPartner(sql`-1`)})
      union all
      select (${nextPartner(sql`partner.id`)}) from partner where id is not null
    )
    select segment.*
    from partner cross join lateral (${ofPartner(sql`partner.id`)}) segment
    order by last_offset limit ${sql.lit(limit)}`;
}
