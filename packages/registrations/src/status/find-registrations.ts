import { formatPassReference } from '@floodgate/contract';
import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';

/** Which registration, and whose it has to be. */
export interface RegistrationQuery {
  shardId: number;
  serial: number;
  partnerId: number;
  eventId: number;
}

export interface RegistrationRow {
  serial: number;
  passCode: number;
  passPrefix: string;
  eventId: number;
  ticketId: number;
  ticketTitle: string;
  state: 'held' | 'reserved' | 'confirmed' | 'cancelled' | 'failed';
  reservedAt: Date;
  /** When its batch was confirmed or given up. */
  finishedAt: Date | null;
  cancelledAt: Date | null;
  /** Whether it is cancelled because its hold was not confirmed in time. */
  isExpired: boolean;
}

/** Returns the pass reference of a registration. */
export const passReferenceOf = ({ passPrefix: prefix, ...row }: RegistrationRow) =>
  formatPassReference({ prefix, ...row });

/**
 * Finds registrations by their serials, each if this partner made it under this event. Resolves to one row per query, in
 * order, undefined where there is none.
 */
export async function findRegistrations(
  db: Database,
  queries: readonly RegistrationQuery[],
): Promise<(RegistrationRow | undefined)[]> {
  const byShard = Map.groupBy(queries.entries(), ([, { shardId }]) => shardId);
  const found: (RegistrationRow | undefined)[] = Array(queries.length).fill(undefined);
  const readShard = async ([shardId, asked]: [number, [number, RegistrationQuery][]]) => {
    const rows = await selectRegistrations(
      db,
      shardId,
      asked.map(([, query]) => query),
    );
    for (const row of rows) found[asked[row.position - 1]![0]] = row;
  };
  await Promise.all([...byShard].map(readShard));
  return found;
}

async function selectRegistrations(db: Database, shardId: number, queries: readonly RegistrationQuery[]) {
  const column = (name: keyof RegistrationQuery) => plainArray(queries.map((query) => query[name]));
  const { rows } = await sql<RegistrationRow & { position: number }>`
    select query.position, r.serial, r.pass_code as "passCode", e.pass_prefix as "passPrefix", r.event_id as "eventId",
      r.ticket_id as "ticketId", t.title as "ticketTitle", r.reserved_at as "reservedAt",
      case when r.held_until is null then b.finished_at end as "finishedAt",
      coalesce(r.cancelled_at, case when r.held_until <= now() then r.held_until end) as "cancelledAt",
      coalesce(r.held_until <= coalesce(r.cancelled_at, now()), false) as "isExpired",
      case
        when r.cancelled_at is not null or r.held_until <= now() then 'cancelled'
        when r.held_until is not null then 'held'
        when b.state = 'pending' then 'reserved'
        else b.state::text
      end as state
    from unnest(${column('serial')}::bigint[], ${column('partnerId')}::integer[], ${column('eventId')}::integer[])
      with ordinality as query (serial, partner_id, event_id, position)
    -- One by one, each by its key (offset 0 keeps the parts apart). Otherwise Postgres, which does not know how many are asked
    -- for, may read whole tables, and even once for each.
    cross join lateral (
      select serial, batch_id, event_id, ticket_id, pass_code, reserved_at, held_until, cancelled_at
      from registrations
      where shard_id = ${shardId} and serial = query.serial
        and partner_id = query.partner_id and event_id = query.event_id
      offset 0
    ) r
    join events e on e.id = r.event_id
    cross join lateral (
      select title from tickets where shard_id = ${shardId} and id = r.ticket_id offset 0
    ) t
    cross join lateral (
      select state, finished_at from batches where shard_id = ${shardId} and id = r.batch_id offset 0
    ) b`.execute(db);
  return rows;
}
