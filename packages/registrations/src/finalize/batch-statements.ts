import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import type { QueueBacklog } from '@floodgate/queue';

// What happens to a batch once it has committed: one function for each statement.

/** Finalizes batches, all of them or none. Idempotent: what is confirmed or failed already stays as it is. */
export async function confirmBatches(db: Database, batchIds: readonly string[]): Promise<void> {
  await sql`
    update batches set state = 'confirmed', finished_at = now(), failure = null
    where id = any(${`{${batchIds.join(',')}}`}::uuid[]) and state = 'pending'`.execute(db);
}

/** Gives a pending batch up: its registrations read `failed` and keep their seats until an operator redrives it. */
export async function failBatch(db: Database, batchId: string, failure: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update batches set state = 'failed', finished_at = now(), failure = ${failure}
    where id = ${batchId}::uuid and state = 'pending'`.execute(db);
  return numAffectedRows === 1n;
}

/** Makes failed batches pending again (all of them, or one) and due for the relay at once. Returns their ids. */
export async function redriveBatches(
  db: Database,
  { batchId = null, limit }: { batchId?: string | null; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update batches
    set state = 'pending', pending_since = now(), finished_at = null, failure = null, relay_at = now()
    where id in (
      select id from batches
      where state = 'failed' and (${batchId}::uuid is null or id = ${batchId}::uuid)
      order by created_at limit ${limit} for update skip locked
    )
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Leases up to `limit` batches that have waited too long for their finalization. Each is left alone for a
 * time that doubles with every enqueue (5 s up to about 5 min), so a backlog is not enqueued over and over.
 * Two relays never get the same batch. Returns their ids.
 */
export async function leaseDueBatches(db: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update batches
    set enqueues = enqueues + 1, relay_at = now() + interval '5 s' * (2 ^ least(enqueues, 6))
    where id in (
      select id from batches where state = 'pending' and relay_at <= now()
      order by relay_at limit ${limit} for update skip locked
    )
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Takes a lease back after the queue refused the batches: they are due again after `delayMs`, and it does not count. */
export async function returnLease(db: Database, batchIds: readonly string[], delayMs: number): Promise<void> {
  await sql`
    update batches set relay_at = now() + make_interval(secs => ${delayMs / 1000}), enqueues = enqueues - 1
    where id = any(${batchIds}::uuid[]) and state = 'pending'`.execute(db);
}

/** What is waiting for finalization, as Postgres knows it. `oldestPendingMs` of a redriven batch counts from its redrive. */
export interface Backlog extends QueueBacklog {
  pendingBatches: number;
  failedBatches: number;
}

/** Returns the backlog of now. */
export async function readBacklog(db: Database): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select
      (select count(*)::integer from batches where state = 'pending') as "pendingBatches",
      (select count(*)::integer from batches where state = 'failed') as "failedBatches",
      (select (extract(epoch from clock_timestamp() - min(pending_since)) * 1000)::float8
         from batches where state = 'pending') as "oldestPendingMs"`.execute(db);
  return rows[0]!;
}
