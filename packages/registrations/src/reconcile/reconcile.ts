import { sql } from 'kysely';
import { askShards, shardIds, type Database } from '@floodgate/database';

/** A place where the books do not balance, in words for an operator. */
export type Difference = Record<'subject' | 'problem', string>;

/** The problem of a shard that does not answer. */
export const UNREAD = 'does not answer, so nobody knows';

/** A batch that has been pending since before this was forgotten: the relay finalizes what has waited far less. */
const FORGOTTEN_SINCE = sql`now() - interval '15 minutes'`;

/**
 * Returns where the books do not balance, shard by shard: seats that are taken and not held, tickets that lie in another shard
 * than their event, references that lead elsewhere or nowhere, batches that are not what they say or whose place in the journal is missing, and batches and held seats that were forgotten.
 * Reads one snapshot of each shard, so it is exact under load. Changes nothing. A shard that does not
 * answer is named as well: nobody knows whether its books balance.
 */
export async function reconcile(db: Database): Promise<Difference[]> {
  const shards = await shardIds(db);
  const { answers, away } = await askShards(shards, async (shardId) => {
    const { rows } = await compareBooks(shardId).execute(db);
    const place = shards.length > 1 ? `shard ${shardId}: ` : '';
    return rows.map(({ subject, problem }) => ({ subject: place + subject, problem }));
  });
  const unread = away.map((shardId) => ({ subject: `shard ${shardId}`, problem: UNREAD }));
  return [...answers.flat(), ...unread];
}

const compareBooks = (shard: number) => sql<Difference>`
  with ${books(shard)} ${differences(shard)} order by 1`;

const books = (shard: number) => sql`
  -- The registrations are read twice, as few groups each time: at once it would take ten times as long.
  alike as materialized (
    select ticket_id, event_id, partner_id, min(serial) as first_serial, max(serial) as last_serial,
      count(*) filter (where cancelled_at is null) as seats
    from registrations where shard_id = ${shard} group by ticket_id, event_id, partner_id
  ),
  held as (
    select ticket_id, sum(seats) as seats from alike group by ticket_id
  ),
  stored as (
    select batch_id, count(*) as size, min(serial) as first_serial, max(serial) as last_serial
    from registrations where shard_id = ${shard} group by batch_id
  ),
  ticket as (select * from tickets where shard_id = ${shard}),
  batch as (select * from batches where shard_id = ${shard}),
  -- A ticket that does not exist is named by itself, with its seats.
  astray as materialized (
    select alike.*, case
      when e.id is null then 'its event ' || alike.event_id || ' does not exist'
      when e.shard_id <> ${shard} then 'its event ' || alike.event_id || ' lives in shard ' || e.shard_id
      when p.id is null then 'its partner ' || alike.partner_id || ' does not exist'
      else 'it is for event ' || e.id || ', but its ticket ' || t.id || ' is of event ' || t.event_id
    end as problem
    from alike
    left join events e on e.id = alike.event_id
    left join partners p on p.id = alike.partner_id
    left join ticket t on t.id = alike.ticket_id
    where e.id is null or e.shard_id <> ${shard} or p.id is null or t.event_id <> e.id
  )`;

const differences = (shard: number) => sql`
  -- Tickets whose seats are not those that registrations hold.
  select 'ticket ' || coalesce(t.id, held.ticket_id) as subject,
    case when t.id is null then 'holds ' || held.seats || ' seats, but there is no such ticket'
    else 'taken is ' || t.taken || ', but registrations hold ' || coalesce(held.seats, 0) || ' seats' end as problem
  from ticket t full join held on held.ticket_id = t.id
  where t.taken is distinct from coalesce(held.seats, 0)

  -- Tickets that nobody finds, because their event is looked for elsewhere.
  union all
  select 'ticket ' || t.id, 'is here, but its event ' || e.id || ' lives in shard ' || e.shard_id
  from ticket t join events e on e.id = t.event_id
  where e.shard_id <> ${shard}

  -- Batches that are not what they say.
  union all
  select 'batch ' || coalesce(b.id, s.batch_id),
    case when b.id is null then 'has ' || s.size || ' registrations, but there is no such batch'
    when b.size <> coalesce(s.size, 0)
      then 'should have ' || b.size || ' registrations, but has ' || coalesce(s.size, 0)
    else 'says serials ' || b.first_serial || ' to ' || b.last_serial
      || ', but has ' || s.first_serial || ' to ' || s.last_serial end
  from batch b full join stored s on s.batch_id = b.id
  where coalesce(b.size, -1) <> coalesce(s.size, 0)
    or b.first_serial <> s.first_serial or b.last_serial <> s.last_serial

  -- Registrations whose references lead elsewhere.
  union all
  select 'registration ' || serial, problem
  from astray cross join lateral (
    select serial from registrations r
    where r.shard_id = ${shard} and serial between first_serial and last_serial
      and (r.ticket_id, r.event_id, r.partner_id) = (astray.ticket_id, astray.event_id, astray.partner_id)
    -- Keeps Postgres from reading them all again: nearly always there is nothing to look up.
    offset 0
  ) named

  -- Idempotency keys that remember a registration of somebody else, or none.
  union all
  select 'idempotency key "' || k.key || '" of partner ' || k.partner_id || ', event ' || k.event_id,
    'remembers registration ' || coalesce(seat.serial::text, '(none)') || coalesce(
      ', which is of partner ' || r.partner_id || ', event ' || r.event_id, ', which does not exist'
    )
  from idempotency_keys k cross join unnest(k.serials) with ordinality as seat (serial, position)
  left join registrations r on r.shard_id = k.shard_id and r.serial = seat.serial
  where k.shard_id = ${shard} and coalesce(k.outcomes[seat.position], 'registered') = 'registered'
    and (r.partner_id, r.event_id) is distinct from (k.partner_id, k.event_id)

  -- Batches that are not finalized, or not in the journal, although their time is over.
  union all
  select 'batch ' || id,
    case when state = 'pending' then 'has been pending since ' || pending_since || ' (' || size || ' registrations)'
    else 'is confirmed, but missing in the journal (' || size || ' registrations)' end
  from batch
  where pending_since < ${FORGOTTEN_SINCE}
    and (state = 'pending' or state = 'confirmed' and journal_offset is null)

  -- Changes that were not published.
  union all
  select 'change ' || id, kind || ' waits for the journal since ' || at
  from changes where shard_id = ${shard} and at < ${FORGOTTEN_SINCE}

  -- Seats whose time is over long since, and that nobody has given back.
  union all
  select 'registration ' || serial, 'was held until ' || held_until || ', and its seat was not given back'
  from registrations
  where shard_id = ${shard} and cancelled_at is null and held_until < ${FORGOTTEN_SINCE}`;
