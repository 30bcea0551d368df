import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';

/** Where and when a person was let in. */
interface Admission {
  area: string;
  gate: string;
  device: string;
  at: Date;
}

/** The sold seats of a ticket, and the people that were let in to an area. */
export interface TicketPeople {
  ticketId: number;
  /** Its title. */
  ticket: string;
  area: string;
  sold: number;
  people: number;
  /** How many of these people are exceptions: those of conflicts, of `cancelled` and of `letIn`. */
  exceptions: number;
}

/** A seat that was admitted and is cancelled now, with its first admission in an area. */
export interface CancelledSeat extends Admission {
  passReference: string;
  /** Of the attendee. Null: the caller may not see it, or it is erased. */
  fullName: string | null;
  ticketId: number;
  cancelledAt: Date;
}

/** A person whom a device let in without network, and whose scan the server refused. */
export interface LetIn extends Admission {
  /** Null, like the ticket, if the pass is of no registration. */
  passReference: string | null;
  /** Of its attendee. Null: none, or the caller may not see it. */
  fullName: string | null;
  ticketId: number | null;
  /** Why the server refused it. */
  reason: string;
  /** The admission of the seat, if it has one. */
  seat: (Omit<Admission, 'area'> & { passReference: string; fullName: string | null }) | null;
}

/** The people that were let in to an event. */
export interface People {
  /** Whether every ticket sold at least as many seats as it let in people, without the exceptions. */
  proved: boolean;
  tickets: TicketPeople[];
  cancelled: CancelledSeat[];
  letIn: LetIn[];
}

/**
 * The name of the attendee of a registration, by the name of its table in a statement. Without the right to
 * see it, it is not even read.
 */
export const nameOf = (registration: string, showsNames: boolean) =>
  showsNames ? sql<string | null>`nullif(${sql.ref(`${registration}.full_name`)}, '')` : sql<null>`null`;

/**
 * Proves that no ticket let in more people than it has sold seats, apart from exceptions, which it names. A
 * cancelled seat is one: it could be sold again. Areas with the rule `any` are left out: they count scans,
 * not people.
 */
export async function readPeople(db: Database, event: Event, showsNames: boolean): Promise<People> {
  const cancelled = await listCancelled(db, event, showsNames);
  const letIn = await listLetIn(db, event, showsNames);
  const exceptions = [...cancelled, ...letIn];
  const counted = await countPeople(db, event);
  const tickets = counted.map(({ seats, again, ...row }) => {
    const here = (person: CancelledSeat | LetIn) =>
      person.ticketId === row.ticketId && person.area === row.area;
    const people = seats + again + letIn.filter(here).length;
    return { ...row, people, exceptions: again + exceptions.filter(here).length };
  });
  const proved = tickets.every((ticket) => ticket.people - ticket.exceptions <= ticket.sold);
  return { proved, tickets, cancelled, letIn };
}

/**
 * By ticket and area: the sold seats, the seats that were admitted, and the admissions that are conflicts.
 */
async function countPeople(db: Database, { id: eventId, shardId }: Event) {
  type Row = Omit<TicketPeople, 'people' | 'exceptions'> & { seats: number; again: number };
  const { rows } = await sql<Row>`
    select t.id as "ticketId", t.title as ticket, a.area, a.seats, a.again, t.taken - coalesce((
      select sum(h.seats) from held_seats h where h.shard_id = ${shardId} and h.ticket_id = t.id
    ), 0)::integer as sold
    from (
      select r.ticket_id, a.area, count(distinct a.seat)::integer as seats,
        (count(*) filter (where a.again_of is not null))::integer as again
      from admissions a
      join registrations r on r.shard_id = a.shard_id and r.serial = a.registration
      join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
      where a.shard_id = ${shardId} and a.event_id = ${eventId} and a.undone_at is null and g.entry_rule <> 'any'
      group by r.ticket_id, a.area
    ) a
    join tickets t on t.shard_id = ${shardId} and t.id = a.ticket_id
    order by t.id, a.area`.execute(db);
  return rows;
}

/**
 * Returns the seats that were admitted and are cancelled now, in the order of their admissions, with the
 * first admission in each area.
 */
async function listCancelled(
  db: Database,
  { id: eventId, shardId, passPrefix: prefix }: Event,
  showsNames: boolean,
): Promise<CancelledSeat[]> {
  type Row = Omit<CancelledSeat, 'passReference'> & { serial: number; passCode: number };
  const { rows } = await sql<Row>`
    with recursive passes (seat, serial) as (
      select a.seat, a.registration from admissions a
      join registrations r on r.shard_id = a.shard_id and r.serial = a.registration
      where a.shard_id = ${shardId} and a.event_id = ${eventId} and a.undone_at is null and r.cancelled_at is not null
      union
      -- The attendee was changed: the seat is cancelled if its last registration is.
      select p.seat, r.replaced_by from passes p
      join registrations r on r.shard_id = ${shardId} and r.serial = p.serial
      where r.replaced_by is not null
    )
    select distinct on (a.seat, a.area) r.serial, r.pass_code as "passCode", r.ticket_id as "ticketId",
      ${nameOf('r', showsNames)} as "fullName", r.cancelled_at as "cancelledAt", a.area, a.at,
      g.name as gate, d.name as device
    from passes p
    join registrations r on r.shard_id = ${shardId} and r.serial = p.serial
    join admissions a on a.shard_id = ${shardId} and a.seat = p.seat
    join gates g on g.shard_id = ${shardId} and g.id = a.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = a.device_id
    where r.replaced_by is null and r.cancelled_at is not null and a.undone_at is null and g.entry_rule <> 'any'
    order by a.seat, a.area, a.at, a.serial`.execute(db);
  return rows
    .map(({ serial, passCode, ...row }) => ({
      passReference: formatPassReference({ prefix, eventId, serial, passCode }),
      ...row,
    }))
    .toSorted((left, right) => left.at.getTime() - right.at.getTime());
}

/**
 * Returns the people whom a device let in, although the server refused the scan when it arrived, and that
 * were not undone.
 */
async function listLetIn(
  db: Database,
  { id: eventId, shardId, passPrefix: prefix }: Event,
  showsNames: boolean,
): Promise<LetIn[]> {
  type Row = Omit<LetIn, 'passReference' | 'seat'> & {
    serial: number | null;
    passCode: number;
    first: {
      serial: number;
      passCode: number;
      fullName: string | null;
      gate: string;
      device: string;
      at: string;
    } | null;
  };
  const { rows } = await sql<Row>`
    select s.serial, r.pass_code as "passCode", r.ticket_id as "ticketId", s.outcome as reason, s.at,
      ${nameOf('r', showsNames)} as "fullName",
      coalesce(s.area, '') as area, coalesce(g.name, '') as gate, d.name as device, (
        select json_build_object(
          'serial', a.registration, 'passCode', ar.pass_code, 'fullName', ${nameOf('ar', showsNames)},
          'gate', ag.name, 'device', ad.name, 'at', a.at
        )
        from admissions a
        join registrations ar on ar.shard_id = a.shard_id and ar.serial = a.registration
        join gates ag on ag.shard_id = a.shard_id and ag.id = a.gate_id
        join devices ad on ad.shard_id = a.shard_id and ad.id = a.device_id
        where a.shard_id = ${shardId} and a.seat = s.seat and a.area = s.area and a.undone_at is null
        order by a.at, a.serial limit 1
      ) as first
    from scans s
    left join registrations r on r.shard_id = s.shard_id and r.serial = s.serial
    left join gates g on g.shard_id = s.shard_id and g.id = s.gate_id
    join devices d on d.shard_id = s.shard_id and d.id = s.device_id
    where s.shard_id = ${shardId} and s.event_id = ${eventId} and s.decision = 'admitted'
      and s.outcome not in ('admitted', 'exited', 'undone', 'superseded') and s.outcome <> 'admitted-again'
      and g.entry_rule is distinct from 'any'
      and not exists (
        select from scans u where u.shard_id = s.shard_id and u.device_id = s.device_id and u.of_counter = s.counter
      )
    order by s.at, s.device_id, s.counter`.execute(db);
  return rows.map(({ serial, passCode, first, ...row }) => ({
    passReference: serial === null ? null : formatPassReference({ prefix, eventId, serial, passCode }),
    ...row,
    seat: first && {
      passReference: formatPassReference({ prefix, eventId, ...first }),
      fullName: first.fullName,
      gate: first.gate,
      device: first.device,
      at: new Date(first.at),
    },
  }));
}
