import { inCamelCase, plainArray, type Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { InvalidInput } from '@floodgate/service/failure';
import { sql } from 'kysely';

export const COLUMNS = [
  'id',
  'name',
  'area',
  'tickets',
  'opensAt',
  'closesAt',
  'entryRule',
  'showsNames',
] as const;

export type EventId = Pick<Event, 'shardId' | 'id'>;

/** Returns the gates of an event. */
export const listGates = (db: Database, { shardId, id: eventId }: EventId): Promise<Gate[]> =>
  inCamelCase(db)
    .selectFrom('gates')
    .select(COLUMNS)
    .where(({ and }) => and({ shardId, eventId }))
    .orderBy('id')
    .execute();

/** A gate of an event. */
export interface Gate {
  id: number;
  name: string;
  area: string;
  /** Null: all tickets. */
  tickets: number[] | null;
  opensAt: Date | null;
  closesAt: Date | null;
  entryRule: 'once' | 're-entry' | 'any';
  showsNames: boolean;
}

/** A gate with its counts. */
export interface CountedGate extends Gate {
  /** People let in there. */
  admitted: number;
  /** People inside its area. */
  inside: number;
}

// Spells "area".
const AREAS_LOCK = 0x61726561;

/**
 * Waits for others that add a gate to the event, until their transactions end: the gates of an area have one
 * entry rule.
 */
export async function lockAreas(db: Database, eventId: number) {
  await sql`select pg_advisory_xact_lock(${AREAS_LOCK}, ${eventId}::integer)`.execute(db);
}

/** Throws InvalidInput unless all of them are gates of the event. */
export async function assertGates(db: Database, event: EventId, ids: readonly number[]) {
  const gateIds = new Set((await listGates(db, event)).map(({ id }) => id));
  if (!ids.every((id) => gateIds.has(id))) throw new InvalidInput({ gates: 'ids of gates of the event' });
}

/** Throws InvalidInput unless all of them are tickets of the event. Null: all tickets. */
export async function assertTickets(db: Database, event: EventId, ids: number[] | null) {
  if (ids === null) return;
  const { rows } = await sql`
    select from tickets where shard_id = ${event.shardId} and event_id = ${event.id}
      and id = any(${plainArray(ids)}::integer[])`.execute(db);
  if (rows.length < new Set(ids).size)
    throw new InvalidInput({ tickets: 'ids of tickets of the event, or none for all' });
}

/**
 * Returns a function that adds two counts to a gate of the event: people let in there, and people inside its
 * area.
 */
export async function countAdmissions(db: Database, event: EventId) {
  const { rows } = await sql<Record<'gate' | 'admitted' | 'inside', number> & { area: string }>`
    select area, gate_id as gate, count(*)::integer as admitted,
      (count(*) filter (where left_at is null and again_of is null))::integer as inside
    from admissions
    where shard_id = ${event.shardId} and event_id = ${event.id} and undone_at is null
    group by area, gate_id`.execute(db);
  return <OfArea extends Pick<Gate, 'id' | 'area'>>(gate: OfArea) => {
    const inArea = rows.filter(({ area }) => area === gate.area);
    const admitted = inArea.find((row) => row.gate === gate.id)?.admitted ?? 0;
    return { ...gate, admitted, inside: inArea.reduce((sum, { inside }) => sum + inside, 0) };
  };
}

/** Returns the gates of an event with their counts. */
export async function countGates(db: Database, event: EventId): Promise<CountedGate[]> {
  const counted = await countAdmissions(db, event);
  return (await listGates(db, event)).map((gate) => counted(gate));
}
