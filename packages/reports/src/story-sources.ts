import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** The registrations of a seat. */
interface Seat {
  shardId: number;
  eventId: number;
  serials: readonly number[];
}

/** A fact about a registration that another part of the service stores. */
interface Fact {
  serial: number;
  at: Date;
  what: string;
}

/** The kinds of e-mails about a registration, in words. */
const MAILS: Record<string, string> = {
  confirmation: 'the pass',
  'event-updated': 'the new time and place',
  cancellation: 'the cancellation',
};

/** Returns the e-mails about registrations: those that were sent, and those that were not. */
export async function readMailsOf(db: Database, { shardId, eventId, serials }: Seat): Promise<Fact[]> {
  type Row = { serial: number; kind: string; state: string; reason: string | null; at: Date };
  const { rows } = await sql<Row>`
    select subject::bigint as serial, kind, state, reason, coalesce(sent_at, tried_at, created_at) as at
    from deliveries
    where shard_id = ${shardId} and event_id = ${eventId} and kind = any(${Object.keys(MAILS)}::text[])
      and subject = any(${serials.map(String)}::text[])`.execute(db);
  return rows.map(({ serial, kind, state, reason, at }) => {
    const because = reason === null ? '' : ` (${reason})`;
    return { serial, at, what: `e-mail with ${MAILS[kind]}: ${state}${because}` };
  });
}

/** Returns when the seat was let in, left, and was let in by mistake. */
export async function readAdmissionsOf(db: Database, { shardId, eventId, serials }: Seat): Promise<Fact[]> {
  type Row = Record<'serial', number> &
    Record<'gate' | 'device', string> &
    Record<'leftAt' | 'undoneAt', Date | null> & { at: Date; isConflict: boolean };
  const { rows } = await sql<Row>`
    select a.registration as serial, a.at, a.left_at as "leftAt", a.undone_at as "undoneAt",
      a.again_of is not null as "isConflict", g.name as gate, d.name as device
    from admissions a
    join gates g on g.shard_id = ${shardId} and g.id = a.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = a.device_id
    where a.shard_id = ${shardId} and a.event_id = ${eventId} and a.seat = ${serials[0]}`.execute(db);
  return rows.flatMap(({ serial, at, leftAt, undoneAt, isConflict, gate, device }) => {
    const place = `${gate}, ${device}`;
    const facts = [{ serial, at, what: `let in${isConflict ? ' again, a conflict' : ''}: ${place}` }];
    if (leftAt) facts.push({ serial, at: leftAt, what: `left: ${place}` });
    if (undoneAt) facts.push({ serial, at: undoneAt, what: `the admission was undone: ${place}` });
    return facts;
  });
}

/** Returns the scans of passes of the seat that were refused. */
export async function readRefusedScansOf(db: Database, { shardId, eventId, serials }: Seat): Promise<Fact[]> {
  type Row = Fact & Record<'outcome' | 'gate' | 'device', string>;
  const { rows } = await sql<Row>`
    select s.serial, s.at, s.outcome, coalesce(g.name, 'no gate') as gate, d.name as device
    from scans s
    left join gates g on g.shard_id = ${shardId} and g.id = s.gate_id
    join devices d on d.shard_id = ${shardId} and d.id = s.device_id
    where s.shard_id = ${shardId} and s.event_id = ${eventId} and s.serial = any(${serials}::bigint[])
      and s.outcome not in ('admitted', 'exited', 'undone', 'superseded') and s.outcome <> 'admitted-again'`.execute(
    db,
  );
  return rows.map(({ serial, at, outcome, gate, device }) => ({
    serial,
    at,
    what: `scan refused, ${outcome}: ${gate}, ${device}`,
  }));
}
