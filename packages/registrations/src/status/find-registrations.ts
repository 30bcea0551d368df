import { formatPassReference, formatTimestamp, type RegistrationStatus } from '@floodgate/contract';
import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import type { JournalEntry } from '@floodgate/journal';

/** A registration, and the partner and event that it must belong to. */
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
  /** When its batch was confirmed or failed. */
  finishedAt: Date | null;
  cancelledAt: Date | null;
  /** Whether its hold expired. */
  isExpired: boolean;
}

/** Returns the pass reference of a registration. */
export const passReferenceOf = ({ passPrefix: prefix, ...row }: RegistrationRow) =>
  formatPassReference({ prefix, ...row });

/** Returns the status that partners see. */
export function statusOf(row: RegistrationRow): RegistrationStatus {
  return {
    passReference: passReferenceOf(row),
    state: row.state,
    organizedEventID: row.eventId,
    organizedEventTicketID: row.ticketId,
    ticketTitle: row.ticketTitle,
    dateReserved: formatTimestamp(row.reservedAt),
    dateFinalized: row.finishedAt && formatTimestamp(row.finishedAt),
    dateCancelled: row.cancelledAt && formatTimestamp(row.cancelledAt),
  };
}

/** Finds one registration, together with others that are looked up at the same time. */
export type FindRegistration = (query: RegistrationQuery) => Promise<RegistrationRow | undefined>;

/**
 * Finds registrations of one shard by their serials, each if this partner made it under this event. Resolves to one row per query,
 * in order, undefined if there is none.
 */
export async function findRegistrations(
  db: Database,
  queries: readonly RegistrationQuery[],
): Promise<(RegistrationRow | undefined)[]> {
  const column = (name: keyof RegistrationQuery) => plainArray(queries.map((query) => query[name]));
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const { rows } = await sql<RegistrationRow & { position: number }>`
    select query.position, r.serial, r.pass_code as "passCode", e.pass_prefix as "passPrefix", r.event_id as "eventId",
      r.ticket_id as "ticketId", t.title as "ticketTitle", r.reserved_at as "reservedAt",
      case when coalesce(r.held_until, 'infinity') = 'infinity' then b.finished_at end as "finishedAt",
      coalesce(r.cancelled_at, case when r.held_until <= now() then r.held_until end) as "cancelledAt",
      coalesce(r.held_until <= coalesce(r.cancelled_at, now()), false) as "isExpired",
      case
        when r.cancelled_at is not null or r.held_until <= now() then 'cancelled'
        when r.held_until < 'infinity' then 'held'
        when b.state = 'pending' then 'reserved'
        else b.state::text
      end as state
    from unnest(${column('serial')}::bigint[], ${column('partnerId')}::integer[], ${column('eventId')}::integer[])
      with ordinality as query (serial, partner_id, event_id, position)
    -- One by one, each by its key (offset 0). Postgres does not know the number of queries, and could scan a whole table per query.
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
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  return queries.map((_, index) => byPosition.get(index + 1));
}

/** Returns the registration that each entry of a page is about, as it was then. Undefined: there is none. */
export async function registrationsOf(
  db: Database,
  shardId: number,
  entries: readonly JournalEntry[],
): Promise<(RegistrationRow | undefined)[]> {
  const found = await findRegistrations(
    db,
    entries.map(({ eventId, partnerId, serial }) => ({ shardId, eventId, partnerId, serial: serial! })),
  );
  return found.map((row, index) => row && asOf(entries[index]!, row));
}

/** The registration as it was with this entry, whatever has happened to it since. */
function asOf({ kind, at }: JournalEntry, row: RegistrationRow): RegistrationRow {
  if (kind === 'cancelled') {
    // Its batch may have been finalized later, without it.
    const { finishedAt, cancelledAt } = row;
    const wasFinished = finishedAt && cancelledAt && finishedAt <= cancelledAt;
    return { ...row, state: kind, finishedAt: wasFinished ? finishedAt : null };
  }
  // A later cancellation has an entry of its own.
  if (kind === 'confirmed') return { ...row, state: kind, cancelledAt: null };
  return { ...row, state: 'failed', finishedAt: at, cancelledAt: null };
}
