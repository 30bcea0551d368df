import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ConsumerKind, Database } from '@floodgate/database';
import { journalHead } from './manage-consumers.ts';

/** A reader of the journal, and how far it has come, while this process has its lease. */
export interface Consumer {
  shardId: number;
  id: string;
  eventId: number;
  /** 0: it reads the entries of all partners. */
  partnerId: number;
  /** Everything up to here was delivered. */
  cursor: number;
  /** Where what is under way ends; null: nothing is. What is made again after a failure, ends there. */
  until: number | null;
  /** Attempts in vain since the last that was not. */
  failures: number;
  /** Since when nothing was delivered though it was tried; null: the last attempt was not in vain. */
  failingSince: Date | null;
  /** Names this lease. */
  lease: string;
}

/** How long a process that was killed keeps its consumers from the others. Longer than any single attempt takes. */
export const LEASE_SECONDS = 25;

/**
 * Leases up to `most` consumers of a shard that have something to read, whose time has come and whom nobody else has, the longest
 * waiting first.
 */
export async function leaseConsumers(
  db: Database,
  shardId: number,
  kind: ConsumerKind,
  most: number,
): Promise<Consumer[]> {
  const lease = randomUUID();
  const { rows } = await sql<{ ids: string[] }>`
    select lease_consumers(${shardId}, ${kind}, ${most}, ${lease}, make_interval(secs => ${LEASE_SECONDS})) as ids`.execute(
    db,
  );
  const ids = rows[0]!.ids;
  if (ids.length === 0) return [];
  const consumers = await db
    .selectFrom('journal_consumers')
    .select([
      'shard_id as shardId',
      'id',
      'event_id as eventId',
      'partner_id as partnerId',
      'last_offset as cursor',
      'until',
      'failures',
      'failing_since as failingSince',
    ])
    .where('shard_id', '=', shardId)
    .where('lease', '=', lease)
    .execute();
  return consumers.map((consumer) => ({ ...consumer, lease }));
}

/**
 * Moves the cursors of consumers that have nothing to read to the end of the journal. Otherwise such a cursor expires with the entries
 * of other events, and the consumer looks as if it had missed something. Cursors at 0 do not expire, and stay.
 */
export async function advanceIdleConsumers(db: Database, shardId: number, kind: ConsumerKind): Promise<void> {
  // Read first: the checks below see every entry up to here.
  const head = await journalHead(db, shardId);
  const behind = await db
    .selectFrom('journal_consumers')
    .select(['id', 'event_id as eventId', 'partner_id as partnerId', 'last_offset as cursor'])
    .where('shard_id', '=', shardId)
    .where('kind', '=', kind)
    .where('last_offset', '>', 0)
    .where('last_offset', '<', head)
    .where('until', 'is', null)
    .execute();
  for (const { id, eventId, partnerId, cursor } of behind) {
    const { rows } = await sql<{ isIdle: boolean }>`
      select oldest_news(${shardId}, ${eventId}, ${partnerId}, ${cursor}) is null as "isIdle"`.execute(db);
    if (!rows[0]!.isIdle) continue;
    await sql`
      update journal_consumers set last_offset = ${head}
      where shard_id = ${shardId} and id = ${id} and last_offset = ${cursor} and until is null`.execute(db);
  }
}

/** Updates a consumer that this process has leased. Returns false where it has lost the lease: somebody else goes on then. */
async function updateLeased(
  db: Database,
  { shardId, id, lease }: Consumer,
  change: ReturnType<typeof sql>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update journal_consumers set ${change}
    where shard_id = ${shardId} and id = ${id} and lease = ${lease} and state = 'active'`.execute(db);
  return Number(numAffectedRows ?? 0) > 0;
}

/**
 * Notes that everything up to the cursor was delivered, and what is under way from now on, and renews the lease. Returns false
 * where the lease is lost, or the consumer was paused: nothing more may be delivered then.
 */
export async function advance(
  db: Database,
  consumer: Consumer,
  { cursor, until = null }: { cursor: number; until?: number | null },
): Promise<boolean> {
  const kept = await updateLeased(
    db,
    consumer,
    sql`last_offset = ${cursor}, until = ${until}, failures = 0, failing_since = null,
      leased_until = now() + make_interval(secs => ${LEASE_SECONDS})`,
  );
  if (kept) Object.assign(consumer, { cursor, until, failures: 0, failingSince: null });
  return kept;
}

/**
 * Renews the lease of a consumer whose turn takes long. Returns false where it is lost, or the consumer was paused: then the lease
 * lasts for what is under way.
 */
export async function renew(db: Database, { shardId, id, lease }: Consumer): Promise<boolean> {
  const { rows } = await sql<{ state: string }>`
    update journal_consumers set leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where shard_id = ${shardId} and id = ${id} and lease = ${lease} returning state`.execute(db);
  return rows[0]?.state === 'active';
}

/** Ends the lease of a consumer that was paused meanwhile: nothing of this turn is under way any more, nor in doubt. */
export async function letGo(db: Database, { shardId, id, lease }: Consumer): Promise<void> {
  await sql`
    update journal_consumers set lease = null, leased_until = null, until = null
    where shard_id = ${shardId} and id = ${id} and lease = ${lease}`.execute(db);
}

const givenBack = (delayMs: number) =>
  sql`lease = null, leased_until = null, next_at = now() + make_interval(secs => ${delayMs / 1000})`;

/** Gives a consumer back: others have their turn before it. With `delayMs`, nobody reads for it before that time has passed. */
export const release = (db: Database, consumer: Consumer, delayMs = 0): Promise<boolean> =>
  updateLeased(db, consumer, givenBack(delayMs));

// Citus takes no now() inside a coalesce.
const failingSinceNow = ({ failingSince }: Consumer) =>
  failingSince === null ? sql`, failing_since = now()` : sql``;

/** Gives a consumer back after an attempt in vain. The next is made after `delayMs`, and ends where this one did. */
export const postpone = (db: Database, consumer: Consumer, delayMs: number): Promise<boolean> =>
  updateLeased(
    db,
    consumer,
    sql`${givenBack(delayMs)}, failures = failures + 1 ${failingSinceNow(consumer)}`,
  );

/**
 * Gives a consumer back whose receiver asked to wait. That counts no failure, but since when nothing was delivered is known, as after
 * one.
 */
export const slowDown = (db: Database, consumer: Consumer, delayMs: number): Promise<boolean> =>
  updateLeased(db, consumer, sql`${givenBack(delayMs)} ${failingSinceNow(consumer)}`);

/** Gives a consumer up, until somebody resumes it. */
export const disable = (db: Database, consumer: Consumer): Promise<boolean> =>
  updateLeased(db, consumer, sql`lease = null, leased_until = null, state = 'disabled'`);
