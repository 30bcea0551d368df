import type { Database } from '@floodgate/database';
import { readJournal } from '@floodgate/journal';
import { sql } from 'kysely';

/** A partner's part of an event. */
export interface PartOfEvent {
  shardId: number;
  eventId: number;
  partnerId: number;
}

export interface Found {
  serial: number;
  passCode: number;
}

/**
 * Returns a page of registrations of a partner under an event that nobody has cancelled: first those that the journal may not have,
 * then those in the journal after the cursor. All up to the returned cursor are in this page or before it.
 */
export async function findUncancelled(
  db: Database,
  part: PartOfEvent,
  after: number,
  limit: number,
): Promise<{ found: Found[]; cursor: number; more: boolean }> {
  // In this order: a batch that is finalized in between is found twice, not missed.
  const unwritten = await findUnwritten(db, part, limit);
  if (unwritten.length === limit) return { found: unwritten, cursor: after, more: true };
  const page = await readJournal(
    db,
    { ...part, kinds: ['confirmed', 'failed'] },
    after,
    limit - unwritten.length,
  );
  // The journal has expired beyond the cursor, or was restored from before it.
  if (typeof page === 'string') return findUncancelled(db, part, 0, limit);
  const { entries, cursor, more } = page;
  const { rows: journaled } = await sql<Found>`
    select serial, pass_code as "passCode" from registrations
    where shard_id = ${part.shardId} and serial = any(${entries.map(({ serial }) => serial)}::bigint[])
      and cancelled_at is null`.execute(db);
  const bySerial = new Map([...unwritten, ...journaled].map((one) => [one.serial, one]));
  return { found: [...bySerial.values()], cursor, more };
}

/** Returns registrations of batches that are not in the journal, held ones, and holds whose confirmation is not in the journal. */
async function findUnwritten(
  db: Database,
  { shardId, eventId, partnerId }: PartOfEvent,
  limit: number,
): Promise<Found[]> {
  const { rows } = await sql<Found>`
    select r.serial, r.pass_code as "passCode"
    from batches b cross join lateral (
      select serial, pass_code from registrations
      where shard_id = ${shardId} and serial between b.first_serial and b.last_serial and batch_id = b.id
        and event_id = ${eventId} and partner_id = ${partnerId} and cancelled_at is null
      offset 0
    ) r
    where b.shard_id = ${shardId} and b.journal_offset is null and b.state in ('pending', 'confirmed')
      and coalesce(b.event_id, ${eventId}) = ${eventId} and coalesce(b.partner_id, ${partnerId}) = ${partnerId}
    union all
    select r.serial, r.pass_code
    from (select id from tickets where shard_id = ${shardId} and event_id = ${eventId} offset 0) t
    cross join lateral (
      select serial, pass_code from registrations
      where shard_id = ${shardId} and ticket_id = t.id and partner_id = ${partnerId}
        and held_until < 'infinity' and cancelled_at is null
      offset 0
    ) r
    union all
    select r.serial, r.pass_code
    from (
      select unnest(serials) as serial from changes
      where shard_id = ${shardId} and kind = 'confirmed' and event_id = ${eventId} and partner_id = ${partnerId}
    ) c
    cross join lateral (
      select serial, pass_code from registrations
      where shard_id = ${shardId} and serial = c.serial and cancelled_at is null
      offset 0
    ) r
    limit ${limit}`.execute(db);
  return rows;
}

/** Returns the offset of the journal up to which resets have cancelled everything. */
export async function readResetCursor(db: Database, { shardId, eventId, partnerId }: PartOfEvent) {
  const { rows } = await sql<{ cursor: number }>`
    select journal_offset as cursor from test_resets
    where shard_id = ${shardId} and event_id = ${eventId} and partner_id = ${partnerId}`.execute(db);
  return rows[0]?.cursor ?? 0;
}

export async function saveResetCursor(
  db: Database,
  { shardId, eventId, partnerId }: PartOfEvent,
  cursor: number,
): Promise<void> {
  await sql`
    insert into test_resets (shard_id, event_id, partner_id, journal_offset)
    values (${shardId}, ${eventId}, ${partnerId}, ${cursor})
    on conflict (shard_id, event_id, partner_id) do update set journal_offset = excluded.journal_offset`.execute(
    db,
  );
}

/** Deletes up to `limit` idempotency keys of a partner under an event. Returns how many. */
export async function forgetKeys(
  db: Database,
  { shardId, eventId, partnerId }: PartOfEvent,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency_keys
    where shard_id = ${shardId} and partner_id = ${partnerId} and event_id = ${eventId} and key in (
      select key from idempotency_keys
      where shard_id = ${shardId} and partner_id = ${partnerId} and event_id = ${eventId}
      limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}
