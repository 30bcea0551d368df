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
  batchId: string;
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
  partnerReference: string | null;
}

/** The state of a registration `r` of a batch `b`. */
export const STATE = sql<RegistrationRow['state']>`case
  when r.cancelled_at is not null or r.held_until <= now() then 'cancelled'
  when r.held_until < 'infinity' then 'held'
  when b.state = 'pending' then 'reserved'
  else b.state::text
end`;

/** Whether the hold of a registration `r` has expired. */
export const IS_EXPIRED = sql<boolean>`coalesce(r.held_until <= coalesce(r.cancelled_at, now()), false)`;

/** The columns with what the partner sent about an attendee. */
export const ATTENDEE = sql`
  full_name as "fullName", email_address as "emailAddress", phone_number as "phoneNumber", gender,
  table_or_seat as "tableOrSeat", extra_data_1 as "extraData1", extra_data_2 as "extraData2"`;

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

/** Returns the entry of a list, with the partner's own reference if it is included. */
export const entryOf = (row: RegistrationRow, isIncluded: boolean) => ({
  ...statusOf(row),
  ...(isIncluded && { partnerReference: row.partnerReference }),
});

/** Finds one registration. Concurrent calls share a statement. */
export type FindRegistration = (query: RegistrationQuery) => Promise<RegistrationRow | undefined>;

/**
 * Finds registrations of one shard by serial, partner and event. Resolves to one row per query, in order, or
 * to undefined if there is none.
 */
export async function findRegistrations(db: Database, queries: readonly RegistrationQuery[]) {
  const column = (name: keyof RegistrationQuery) => plainArray(queries.map((query) => query[name]));
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const { rows } = await sql<RegistrationRow & { position: number }>`
    select query.position, r.serial, r.batch_id as "batchId", r.pass_code as "passCode",
      e.pass_prefix as "passPrefix", r.event_id as "eventId", r.ticket_id as "ticketId", t.title as "ticketTitle",
      r.reserved_at as "reservedAt",
      case when coalesce(r.held_until, 'infinity') = 'infinity' then b.finished_at end as "finishedAt",
      coalesce(r.cancelled_at, case when r.held_until <= now() then r.held_until end) as "cancelledAt",
      ${IS_EXPIRED} as "isExpired",
      r.partner_reference as "partnerReference",
      ${STATE} as state
    from unnest(${column('serial')}::bigint[], ${column('partnerId')}::integer[], ${column('eventId')}::integer[])
      with ordinality as query (serial, partner_id, event_id, position)
    -- With offset 0 Postgres looks up each query by key. It does not know their number, and could scan a whole table
    -- per query.
    cross join lateral (
      select serial, batch_id, event_id, ticket_id, pass_code, reserved_at, held_until, cancelled_at, partner_reference
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

/** Returns the registration of each entry of a page, as it was after the entry. Undefined: there is none. */
export async function registrationsOf(db: Database, shardId: number, entries: readonly JournalEntry[]) {
  const queries = entries.map((entry) => ({ ...entry, shardId, serial: entry.serial! }));
  const rows = await findRegistrations(db, queries);
  return rows.map((row, index) => row && asOf(entries[index]!, row));
}

/** Returns the registration as it was after this entry, without later changes. */
function asOf({ kind, at }: JournalEntry, row: RegistrationRow): RegistrationRow {
  if (kind === 'cancelled') {
    // Its batch may have been finalized later, without it.
    const { finishedAt, cancelledAt } = row;
    const wasFinished = finishedAt && cancelledAt && finishedAt <= cancelledAt;
    return { ...row, state: kind, finishedAt: wasFinished ? finishedAt : null };
  }
  // A later cancellation has its own entry.
  if (kind === 'confirmed') return { ...row, state: kind, cancelledAt: null };
  return { ...row, state: 'failed', finishedAt: at, cancelledAt: null };
}

/** The fields that the partner sent about an attendee. Null: not sent, or the seat has no attendee yet. */
type StoredAttendee = Record<
  'fullName' | 'emailAddress' | 'phoneNumber' | 'gender' | 'tableOrSeat' | 'extraData1' | 'extraData2',
  string | null
>;

/** Returns what the partner sent about an attendee. Only the operator's console reads it. */
export async function findAttendee(db: Database, shardId: number, serial: number) {
  const { rows } = await sql<StoredAttendee>`
    select ${ATTENDEE} from registrations where shard_id = ${shardId} and serial = ${serial}`.execute(db);
  return rows[0];
}
