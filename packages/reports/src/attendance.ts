import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';
import { isIn, isOf, soldSeats, type Period, type Subject } from './sold-seats.ts';
import { countInWindows } from './windows.ts';

/** The people of a ticket and partner that were expected, and those that came. */
export interface AttendanceRow {
  ticketId: number;
  ticket: string;
  partnerId: number;
  partner: string;
  /** Sold seats that are not cancelled. */
  expected: number;
  /** Those of them that were let in, at any gate. */
  came: number;
  noShows: number;
  /** Seats that were let in and are cancelled now. */
  cameAndCancelled: number;
}

/** Returns who came to an event, by ticket and partner. */
export async function readAttendance(db: Database, event: Event, only: Subject = {}) {
  const { id, shardId } = event;
  const groups = await countInWindows(
    db,
    shardId,
    (window) => sql`
      select json_build_object('ticket_id', ticket_id, 'partner_id', partner_id)::text as group,
        array[expected, came, cancelled] as counts
      from (
        select s.ticket_id, s.partner_id,
          (count(*) filter (where s.cancelled_at is null))::integer as expected,
          (count(s.came) filter (where s.cancelled_at is null))::integer as came,
          (count(s.came) filter (where s.cancelled_at is not null))::integer as cancelled
        from (
          select sold.*,
            case when within.seat is not null
              or (sold.seat <= ${window.after} or sold.seat > ${window.upTo}) and exists (
                select from admissions
                where shard_id = ${shardId} and seat = sold.seat and undone_at is null
              ) then true end as came
          from (${soldSeats(event, window)}) sold
          -- The seat of a changed attendee can be in another window, on Citus also in a later one.
          left join (
            select distinct seat from admissions
            where shard_id = ${shardId} and event_id = ${id} and undone_at is null
              and seat > ${window.after} and seat <= ${window.upTo}
          ) within on within.seat = sold.seat
          where ${isOf('sold', only)}
        ) s
        group by 1, 2
      ) c`,
  );
  const { rows } = await sql<AttendanceRow>`
    select c.ticket_id as "ticketId", t.title as ticket, c.partner_id as "partnerId", p.name as partner,
      c.counts[1] as expected, c.counts[2] as came, c.counts[1] - c.counts[2] as "noShows",
      c.counts[3] as "cameAndCancelled"
    from json_to_recordset(${groups}::json)
      as c (ticket_id integer, partner_id integer, counts integer[])
    join tickets t on t.shard_id = ${shardId} and t.id = c.ticket_id
    join partners p on p.id = c.partner_id
    order by c.ticket_id, c.partner_id`.execute(db);
  return rows;
}

/** How many people a gate let in within a quarter of an hour. */
export interface AdmissionsRow {
  /** The start of the quarter. */
  at: Date;
  gateId: number;
  gate: string;
  ticketId: number;
  ticket: string;
  /** Admissions that were not undone. A person who leaves and comes back counts again. */
  admitted: number;
  /** Those of them that were the first of their seat: new people. */
  arrived: number;
}

/** Returns the admissions of an event by quarter of an hour, gate and ticket, oldest first. */
export async function readAdmissions(db: Database, event: Event, only: Period & Subject) {
  const { id, shardId } = event;
  const { rows } = await sql<AdmissionsRow>`
    select c.at, c.gate_id as "gateId", g.name as gate, c.ticket_id as "ticketId", t.title as ticket,
      c.admitted, c.arrived
    from (
      select date_bin('15 minutes', a.at, '2000-01-01T00:00Z') as at, a.gate_id, r.ticket_id,
        count(*)::integer as admitted, (count(*) filter (where a.nth = 1))::integer as arrived
      from (
        select shard_id, registration, gate_id, at, row_number() over (partition by seat order by at, serial) as nth
        from admissions
        where shard_id = ${shardId} and event_id = ${id} and undone_at is null
      ) a
      join registrations r on r.shard_id = a.shard_id and r.serial = a.registration
      where ${isIn('a.at', only)} and ${isOf('r', only)}
      group by 1, 2, 3
    ) c
    join gates g on g.shard_id = ${shardId} and g.id = c.gate_id
    join tickets t on t.shard_id = ${shardId} and t.id = c.ticket_id
    order by c.at, c.gate_id, c.ticket_id`.execute(db);
  return rows;
}
