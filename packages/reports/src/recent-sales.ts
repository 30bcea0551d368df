import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { partsByServer, type SerialRange } from '@floodgate/registrations/serial-ranges';
import { sql } from 'kysely';

/** The seats of a ticket that were sold within an hour. */
export interface HourOfSales {
  /** The start of the hour, in the time zone of the event. */
  at: Date;
  ticketId: number;
  sold: number;
}

/** The recent sales of an event. */
export interface RecentSales {
  eventId: number;
  /** The start of the first hour. */
  from: Date;
  /** Whether the numbers are those of a sample, because the shard sold more than a page can count. */
  isEstimate: boolean;
  /** Hours without a sale are missing. */
  hours: HourOfSales[];
}

/** Up to this many registrations of the shard are counted one by one: about 20 ms. */
const MOST_COUNTED = 20_000;
/** Registrations of a sample, one lookup by the primary key each. About eighty are of one hour. */
const SAMPLE = 2_000;

/**
 * Returns the seats that an event has sold since `from`, by hour and ticket. The serials of a server rise with the
 * time of the sale, so the first one since then is found like a word in a dictionary, and only what comes after it is
 * read. If that is much, it is estimated from registrations at equal distances: the time is the same for an event of
 * any size. `reportSales` has the exact numbers.
 */
export async function readRecentSales(db: Database, event: Event, from: Date): Promise<RecentSales> {
  let isEstimate = false;
  let hours: HourOfSales[] = [];
  for (const serials of await serialsByServer(db, event)) {
    const { before, last } = await findRange(db, event, from, serials);
    const isMany = last - before > MOST_COUNTED;
    // Odd, so that it is in step with no basket of even size.
    const step = isMany ? Math.ceil((last - before) / SAMPLE) | 1 : 1;
    if (last > before) hours = addHours(hours, await countHours(db, event, { from, before, last, step }));
    isEstimate ||= isMany;
  }
  return { eventId: event.id, from, isEstimate, hours };
}

/** Returns the serials of the shard, in a range for each server that may have sold it. */
async function serialsByServer(db: Database, { shardId }: Event): Promise<SerialRange[]> {
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select
      (select serial from registrations where shard_id = ${shardId} order by serial limit 1) as first,
      (select serial from registrations where shard_id = ${shardId} order by serial desc limit 1) as last`.execute(
    db,
  );
  const { first, last } = rows[0]!;
  return first === null || last === null ? [] : [...partsByServer({ after: first - 1, upTo: last })];
}

/** Returns the hours of both lists, each hour and ticket once, in order. */
function addHours(some: readonly HourOfSales[], more: readonly HourOfSales[]): HourOfSales[] {
  const sums = new Map(some.map((hour) => [`${hour.at.getTime()} ${hour.ticketId}`, hour]));
  for (const hour of more) {
    const key = `${hour.at.getTime()} ${hour.ticketId}`;
    sums.set(key, { ...hour, sold: hour.sold + (sums.get(key)?.sold ?? 0) });
  }
  return [...sums.values()].toSorted((one, other) => +one.at - +other.at || one.ticketId - other.ticketId);
}

/** Returns the last serial of a range before a time, and the last one of all. */
async function findRange(db: Database, { shardId }: Event, from: Date, { after, upTo }: SerialRange) {
  const inRange = sql`shard_id = ${shardId} and serial > ${after} and serial <= ${upTo}`;
  const { rows } = await sql<{ before: number; last: number }>`
    with recursive bounds as (
      select
        (select serial from registrations where ${inRange} order by serial limit 1) as first,
        (select serial from registrations where ${inRange} order by serial desc limit 1) as last
    ),
    -- All up to "before" are older, and all from "after" on are not.
    search as (
      select first - 1 as before, last + 1 as after from bounds where last is not null
      union all
      select
        case when found.is_older then found.serial else s.before end,
        case when found.is_older then s.after else (s.before + s.after) / 2 end
      from search s
      cross join lateral (
        select serial, reserved_at < ${from} as is_older from registrations
        where shard_id = ${shardId} and serial >= (s.before + s.after) / 2
        order by serial limit 1
      ) found
      where s.after - s.before > 1
    )
    select search.before::float8, bounds.last::float8 from search, bounds
    order by search.before desc, search.after limit 1`.execute(db);
  return rows[0] ?? { before: 0, last: 0 };
}

interface Sample {
  from: Date;
  before: number;
  last: number;
  /** 1: every registration is counted. */
  step: number;
}

/** Holds that are open or ended are not sold. A changed attendee has a seat that was sold before. */
const IS_SALE = sql`seat is null and coalesce(held_until = 'infinity', true)`;

async function countHours(db: Database, event: Event, { from, before, last, step }: Sample) {
  const { shardId, id } = event;
  const source =
    step === 1
      ? sql`registrations r where r.shard_id = ${shardId} and r.serial > ${before} and r.serial <= ${last}`
      : sql`
        generate_series(${before + 1}::bigint, ${last}::bigint, ${step}::bigint) sample (serial)
        cross join lateral (
          select * from registrations where shard_id = ${shardId} and serial = sample.serial offset 0
        ) r
        where true`;
  const { rows } = await sql<HourOfSales>`
    select date_trunc('hour', r.reserved_at, ${event.timeZone ?? 'UTC'}) as at, r.ticket_id as "ticketId",
      (count(*) * ${step}::bigint)::float8 as sold
    from ${source} and r.event_id = ${id} and r.reserved_at >= ${from} and ${IS_SALE}
    group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}
