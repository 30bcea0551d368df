import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findByPassReference } from '@floodgate/registrations/list';
import { sql } from 'kysely';
import { nameOf } from './people.ts';

/** Something that happened at the door to a person. */
export interface DoorStoryEntry {
  at: Date;
  /** `let in again`: a second time for one seat, a conflict. */
  what: 'let in' | 'let in again' | 'left' | 'undone' | 'refused';
  /** Why a scan was refused. Null: it was not. */
  reason: string | null;
  /** Empty: the event has no such gate. */
  gate: string;
  device: string;
  /** The pass that was scanned: of this attendee, or of an earlier or later one of the seat. */
  passReference: string;
}

/** The events at the door for the person on a seat. */
export interface DoorStory {
  eventId: number;
  passReference: string;
  /** Of the attendee. Null: the caller may not see it, or it is erased. */
  fullName: string | null;
  ticket: string;
  cancelledAt: Date | null;
  entries: DoorStoryEntry[];
}

/** The fields of a scan in both queries. */
interface Scanned {
  at: Date;
  serial: number;
  passCode: number;
  gate: string;
  device: string;
}

interface Seat {
  shardId: number;
  eventId: number;
  seat: number;
}

/**
 * Returns the story of a registration at the door, oldest first: with the scans of every pass of its seat.
 * Throws NotFound if there is no such registration.
 */
export async function readDoorStory(
  db: Database,
  passReference: string,
  showsNames: boolean,
): Promise<DoorStory> {
  const { row, shardId } = await findByPassReference(db, passReference);
  const { eventId, passPrefix: prefix, ticketTitle: ticket, cancelledAt } = row;
  const { rows } = await sql<{ seat: number; fullName: string | null }>`
    select coalesce(r.seat, r.serial) as seat, ${nameOf('r', showsNames)} as "fullName"
    from registrations r where r.shard_id = ${shardId} and r.serial = ${row.serial}`.execute(db);
  const { seat, fullName } = rows[0]!;
  const referenceOf = ({ serial, passCode }: Scanned) =>
    formatPassReference({ prefix, eventId, serial, passCode });
  const of = { shardId, eventId, seat };
  const entries = [
    ...(await readAdmissions(db, of, referenceOf)),
    ...(await readRefused(db, of, referenceOf)),
  ];
  return {
    eventId,
    passReference: formatPassReference({ prefix, ...row }),
    fullName,
    ticket,
    cancelledAt,
    entries: entries.toSorted((one, other) => one.at.getTime() - other.at.getTime()),
  };
}

type ReferenceOf = (scanned: Scanned) => string;

async function readAdmissions(db: Database, { shardId, eventId, seat }: Seat, referenceOf: ReferenceOf) {
  const { rows } = await sql<Scanned & { leftAt: Date | null; undoneAt: Date | null; isAgain: boolean }>`
    select a.at, a.registration as serial, r.pass_code as "passCode", g.name as gate, d.name as device,
      a.left_at as "leftAt", a.undone_at as "undoneAt", a.again_of is not null as "isAgain"
    from admissions a
    join registrations r on r.shard_id = ${shardId} and r.serial = a.registration
    join gates g on g.shard_id = ${shardId} and g.id = a.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = a.device_id
    where a.shard_id = ${shardId} and a.event_id = ${eventId} and a.seat = ${seat}`.execute(db);
  return rows.flatMap(({ at, leftAt, undoneAt, isAgain, ...scanned }): DoorStoryEntry[] => {
    const { gate, device } = scanned;
    const of = { reason: null, gate, device, passReference: referenceOf({ at, ...scanned }) };
    return [
      { at, what: isAgain ? 'let in again' : 'let in', ...of },
      ...(leftAt ? [{ at: leftAt, what: 'left' as const, ...of }] : []),
      ...(undoneAt ? [{ at: undoneAt, what: 'undone' as const, ...of }] : []),
    ];
  });
}

/** The condition is that of the index of refused scans. */
async function readRefused(db: Database, { shardId, eventId, seat }: Seat, referenceOf: ReferenceOf) {
  const { rows } = await sql<Scanned & { reason: string }>`
    select s.at, s.serial, r.pass_code as "passCode", coalesce(g.name, '') as gate, d.name as device,
      s.outcome as reason
    from scans s
    join registrations r on r.shard_id = ${shardId} and r.serial = s.serial
    left join gates g on g.shard_id = ${shardId} and g.id = s.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = s.device_id
    where s.shard_id = ${shardId} and s.event_id = ${eventId} and s.seat = ${seat}
      and s.outcome not in ('admitted', 'exited', 'undone', 'superseded') and s.outcome <> 'admitted-again'`.execute(
    db,
  );
  return rows.map(({ at, reason, ...scanned }): DoorStoryEntry => {
    const { gate, device } = scanned;
    return { at, what: 'refused', reason, gate, device, passReference: referenceOf({ at, ...scanned }) };
  });
}
