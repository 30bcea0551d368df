import { inCamelCase, plainArray, type Database } from '@floodgate/database';
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

/** Returns the gates of an event. */
export const listGates = (db: Database, shardId: number, eventId: number) =>
  inCamelCase(db)
    .selectFrom('gates')
    .select(COLUMNS)
    .where(({ and }) => and({ shardId, eventId }))
    .orderBy('id')
    .execute();

export type Gate = Awaited<ReturnType<typeof listGates>>[number];

/** Throws InvalidInput unless all of them are gates of the event. */
export async function assertGates(db: Database, shardId: number, eventId: number, ids: readonly number[]) {
  const known = new Set((await listGates(db, shardId, eventId)).map(({ id }) => id));
  if (!ids.every((id) => known.has(id))) throw new InvalidInput({ gates: 'ids of gates of the event' });
}

/** Throws InvalidInput unless all of them are tickets of the event. Null: all tickets. */
export async function assertTickets(db: Database, shardId: number, eventId: number, ids: number[] | null) {
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
