import { inCamelCase, plainArray, type Database } from '@floodgate/database';
import { findEvent, keepInShard } from '@floodgate/events';
import { Failure, InvalidInput, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';

/** `once`: a pass is admitted once in the area. `re-entry`: again after an exit. `any`: always. */
export const ENTRY_RULES = ['once', 're-entry', 'any'] as const;
export type EntryRule = (typeof ENTRY_RULES)[number];

const COLUMNS = ['id', 'name', 'area', 'tickets', 'opensAt', 'closesAt', 'entryRule', 'showsNames'] as const;

export interface GateSettings {
  name: string;
  /** Null: all tickets of the event. */
  tickets: number[] | null;
  opensAt: Date | null;
  closesAt: Date | null;
  showsNames: boolean;
}

export type Gate = GateSettings & { id: number; area: string; entryRule: EntryRule };

/** Adds a gate to an event. Throws Failure if another gate of its area has another rule. */
export async function createGate(db: Database, eventId: number, gate: Omit<Gate, 'id'>): Promise<Gate> {
  await keepInShard(db, eventId);
  const { shardId } = await findEvent(db, eventId);
  const { area, entryRule } = gate;
  const other = (await listGates(db, shardId, eventId)).find((one) => one.area === area);
  if (other && other.entryRule !== entryRule)
    throw new Failure(`gate ${other.id} of the same area has the entry rule "${other.entryRule}"`);
  await assertTickets(db, shardId, eventId, gate.tickets);
  return inCamelCase(db)
    .insertInto('gates')
    .values({ ...gate, shardId, eventId })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Changes the given settings of a gate. Returns it before and after the change. Throws NotFound if there is no such gate. */
export async function updateGate(
  db: Database,
  eventId: number,
  gateId: number,
  given: Partial<GateSettings>,
) {
  const { shardId } = await findEvent(db, eventId);
  const before = (await listGates(db, shardId, eventId)).find(({ id }) => id === gateId);
  if (!before) throw new NotFound('no such gate');
  await assertTickets(db, shardId, eventId, given.tickets ?? null);
  const updated = inCamelCase(db)
    .updateTable('gates')
    .set(given)
    .where('shardId', '=', shardId)
    .where('id', '=', gateId);
  return { before, after: await updated.returning(COLUMNS).executeTakeFirstOrThrow() };
}

/** Returns the gates of an event. */
export const listGates = (db: Database, shardId: number, eventId: number): Promise<Gate[]> =>
  inCamelCase(db)
    .selectFrom('gates')
    .select(COLUMNS)
    .where('shardId', '=', shardId)
    .where('eventId', '=', eventId)
    .orderBy('id')
    .execute();

/** Throws InvalidInput unless all of them are gates of the event. */
export async function assertGates(db: Database, shardId: number, eventId: number, ids: readonly number[]) {
  const known = new Set((await listGates(db, shardId, eventId)).map(({ id }) => id));
  if (!ids.every((id) => known.has(id))) throw new InvalidInput({ gates: 'ids of gates of the event' });
}

async function assertTickets(db: Database, shardId: number, eventId: number, ids: readonly number[] | null) {
  if (ids === null) return;
  const { rows } = await sql`
    select from tickets where shard_id = ${shardId} and event_id = ${eventId}
      and id = any(${plainArray(ids)}::integer[])`.execute(db);
  if (rows.length < new Set(ids).size)
    throw new InvalidInput({ tickets: 'ids of tickets of the event, or none for all' });
}

/** The number of people who were let in at a gate, and of those who are inside its area. */
export type GateCounts = Record<'admitted' | 'inside', number>;

/** Returns the counts of each gate of an event at which somebody was let in, by its id. */
export async function countAdmissions(db: Database, shardId: number, eventId: number) {
  const { rows } = await sql<GateCounts & { id: number }>`
    select g.id, coalesce(here.admitted, 0)::integer as admitted, coalesce(area.inside, 0)::integer as inside
    from gates g
    left join (
      select gate_id, count(*) as admitted from admissions
      where shard_id = ${shardId} and event_id = ${eventId} and undone_at is null group by gate_id
    ) here on here.gate_id = g.id
    left join (
      select area, count(*) as inside from admissions
      where shard_id = ${shardId} and event_id = ${eventId} and undone_at is null and left_at is null and again_of is null
      group by area
    ) area on area.area = g.area
    where g.shard_id = ${shardId} and g.event_id = ${eventId}`.execute(db);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}
