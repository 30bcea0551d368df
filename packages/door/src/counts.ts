import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { listGates, type CountedGate, type EventId } from './gates.ts';
import { listSilentDevices, type SilentDevice } from './silent-devices.ts';

/** The people with a ticket in an area. */
export interface CountedTicket {
  ticketId: number;
  /** Its title. */
  ticket: string;
  area: string;
  /** People let in. */
  admitted: number;
  /** People who have not left. */
  inside: number;
}

/** The people at the doors of an event, by gate and by ticket. */
export interface DoorCounts {
  gates: CountedGate[];
  tickets: CountedTicket[];
  /** Seats that let in a second person. */
  conflicts: number;
  /** Devices at open gates that are not in contact. */
  silent: SilentDevice[];
}

interface Count {
  gateId: number;
  ticketId: number;
  ticket: string;
  area: string;
  admitted: number;
  inside: number;
  conflicts: number;
}

const sumOf = <Field extends string>(rows: readonly Record<Field, number>[], field: Field) =>
  rows.reduce((sum, row) => sum + row[field], 0);

/** Returns the people at the doors of an event. */
export async function readDoorCounts(db: Database, event: EventId): Promise<DoorCounts> {
  const rows = await countByGateAndTicket(db, event);
  const gates = (await listGates(db, event)).map((gate) => ({
    ...gate,
    admitted: sumOf(
      rows.filter(({ gateId }) => gateId === gate.id),
      'admitted',
    ),
    // A person leaves an area through any of its gates.
    inside: sumOf(
      rows.filter(({ area }) => area === gate.area),
      'inside',
    ),
  }));
  const byTicket = Object.values(Object.groupBy(rows, ({ ticketId, area }) => `${ticketId} ${area}`));
  const tickets = byTicket.map((ofTicket = []) => {
    const { ticketId, ticket, area } = ofTicket[0]!;
    return {
      ticketId,
      ticket,
      area,
      admitted: sumOf(ofTicket, 'admitted'),
      inside: sumOf(ofTicket, 'inside'),
    };
  });
  const conflicts = sumOf(rows, 'conflicts');
  return { gates, tickets, conflicts, silent: await listSilentDevices(db, event) };
}

async function countByGateAndTicket(db: Database, { shardId, id }: EventId): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select c.gate_id as "gateId", c.ticket_id as "ticketId", t.title as ticket, c.area,
      c.admitted, c.inside, c.conflicts
    from (
      select a.gate_id, r.ticket_id, a.area, count(*)::integer as admitted,
        (count(*) filter (where a.left_at is null and a.again_of is null))::integer as inside,
        (count(*) filter (where a.again_of is not null))::integer as conflicts
      from admissions a
      join registrations r on r.shard_id = ${shardId} and r.serial = a.registration
      where a.shard_id = ${shardId} and a.event_id = ${id} and a.undone_at is null
      group by 1, 2, 3
    ) c
    join tickets t on t.shard_id = ${shardId} and t.id = c.ticket_id
    order by c.ticket_id, c.area, c.gate_id`.execute(db);
  return rows;
}
