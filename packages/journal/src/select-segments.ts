import { sql, type RawBuilder } from 'kysely';

/**
 * The entries of a shard, of one of its events, or of one partner under that event, with or without the entries about the event's
 * tickets.
 */
export interface JournalScope {
  shardId: number;
  eventId?: number | undefined;
  /** Of the event. 0: the entries about its tickets. */
  partnerId?: number | undefined;
  withTickets?: boolean;
}

/**
 * Returns the query of the first `limit` segments that end after the offset `after`, in order. It reads no others; for a whole event
 * it reads up to `limit` of each partner.
 */
export function selectSegments(scope: JournalScope, after: number, limit: number): RawBuilder<unknown> {
  const { shardId, eventId, partnerId, withTickets } = scope;
  // Limits are in the text: without knowing them, Postgres might read and sort everything.
  if (eventId === undefined)
    return sql`
      select * from journal_segments
      where shard_id = ${shardId} and last_offset > ${after}::bigint
      order by last_offset limit ${sql.lit(limit)}`;
  // Compared and sorted as rows, so that only the index of a partner's segments fits. With the primary key, which is also sorted by
  // offset, Postgres would read through the segments of all partners.
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
  // From partner to partner.
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
