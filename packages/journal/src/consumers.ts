import { randomUUID } from 'node:crypto';
import { inCamelCase, rememberShards, type ConsumerKind, type Database } from '@floodgate/database';
import type { Metrics } from '@floodgate/metrics';
import { createSemaphore, systemClock, withDeadline } from '@floodgate/service';
import type { Clock, Logger, Page, PeriodicTask, TaskResult } from '@floodgate/service';
import type { Static, TObject, TProperties } from '@sinclair/typebox';
import { sql } from 'kysely';
import {
  leaseConsumers,
  release,
  releaseCaughtUp,
  UNLEASED,
  updateConsumer,
  updateLeased,
  type Consumer,
  type ConsumerChange,
  type ConsumerId,
} from './read-journal.ts';

const NOW = sql<Date>`now()`;
/** A poll that takes longer releases its permit, so that a shard that does not answer does not delay the others. */
const POLL_PATIENCE_MS = 500;
/** Maximum time that a round waits for its polls. */
const ROUND_MS = 2_000;

/** Delay before a consumer is leased again if its previous run in this process has not ended. */
const AFTER_OLD_RUN_MS = 500;
/** Delay before a consumer is leased again if its run failed. */
const AFTER_FAILURE_MS = 1_000;

/** How a run ended. `released`: the run released the lease itself, or lost it. */
export type RunEnd = 'more' | 'caught-up' | 'released';

export interface ConsumersOptions {
  db: Database;
  kind: ConsumerKind;
  /** Maximum number of consumers that this process runs at once. */
  concurrency: number;
  /** Called when a run failed. The consumer is leased again a second later, or after the next poll that Postgres answers. */
  onError: (error: Error, consumer: Consumer) => void;
  /**
   * Delivers for one consumer, for a short time so that others are served. Must advance the consumer within LEASE_SECONDS, which extends
   * the lease. The signal is aborted when the process stops: messages in flight end or are abandoned.
   */
  run: (consumer: Consumer, signal: AbortSignal) => Promise<RunEnd>;
  clock?: Clock | undefined;
}

/**
 * Runs the consumers of a kind, many at once, each in one process at a time. It polls for consumers, so a lost notification cannot delay a
 * delivery.
 */
export function runConsumers({ db, kind, concurrency, onError, run, clock = systemClock }: ConsumersOptions) {
  const stopping = new AbortController();
  const shards = rememberShards(db);
  const running = new Map<string, Promise<unknown>>();
  /** Consumers whose release failed, for example in a failover. Nobody could lease them until the lease expires. */
  const unreleased = new Set<Consumer>();
  /** Running polls by shard. Each shard has at most one. */
  const polls = new Map<number, Promise<void>>();
  // One poll at a time: two would both see the same free capacity.
  const oneAtATime = createSemaphore(1, POLL_PATIENCE_MS, clock);

  async function runOnce(consumer: Consumer): Promise<RunEnd | 'failed'> {
    try {
      const end = stopping.signal.aborted ? 'more' : await run(consumer, stopping.signal);
      if (end !== 'released') await (end === 'more' ? release : releaseCaughtUp)(db, consumer);
      return end;
    } catch (error) {
      onError(error as Error, consumer);
      await release(db, consumer, AFTER_FAILURE_MS).catch(() => unreleased.add(consumer));
      return 'failed';
    }
  }

  async function releaseAgain(shardId: number): Promise<void> {
    for (const consumer of unreleased) {
      if (consumer.shardId !== shardId) continue;
      await release(db, consumer);
      unreleased.delete(consumer);
    }
  }

  async function start(consumer: Consumer): Promise<void> {
    // Its lease expired during a run of this process. That run may still have a message in flight.
    if (running.has(consumer.id)) return void (await release(db, consumer, AFTER_OLD_RUN_MS).catch(() => {}));
    const ended = runOnce(consumer);
    running.set(consumer.id, ended);
    const end = await ended;
    running.delete(consumer.id);
    // Polls at once, so that the next consumer does not wait for the next round. The next round repeats a failed poll.
    if (end === 'more') await poll(consumer.shardId).catch(() => {});
  }

  async function poll(shardId: number): Promise<void> {
    if (polls.has(shardId)) return;
    const polled = oneAtATime(async () => {
      const free = concurrency - running.size;
      if (free <= 0 || stopping.signal.aborted) return;
      await releaseAgain(shardId);
      for (const consumer of await leaseConsumers(db, shardId, kind, free)) void start(consumer);
    }).finally(() => polls.delete(shardId));
    polls.set(shardId, polled);
    await polled;
  }

  return {
    /** Starts runs for consumers that are behind, up to the capacity. */
    async poll(): Promise<TaskResult> {
      const polled = Promise.allSettled((await shards()).map(poll));
      const ended = await withDeadline(polled, ROUND_MS, () => [], clock);
      for (const one of ended) if (one.status === 'rejected') throw one.reason;
      return running.size > 0 ? 'done' : 'idle';
    },
    /** Starts no more runs. Resolves when all runs have ended. */
    async close(): Promise<void> {
      stopping.abort();
      // A slow poll may still lease consumers. Their runs release them.
      await Promise.allSettled(polls.values());
      await Promise.all(running.values());
    },
  };
}

/** Releases a consumer whose receiver asked to wait. This counts neither as a failure nor as a success. */
export const throttle = (db: Database, consumer: Consumer, delayMs: number, change: ConsumerChange = {}) =>
  // Citus accepts no now() inside a coalesce.
  release(db, consumer, delayMs, consumer.failingSince ? change : { ...change, failing_since: NOW });

/** Releases a consumer after a failed attempt. The same range is sent again after the delay. */
export const retryLater = (db: Database, consumer: Consumer, delayMs: number) =>
  throttle(db, consumer, delayMs, { failures: sql<number>`failures + 1` });

/** Disables a consumer until it is resumed. */
export const disable = (db: Database, consumer: Consumer) =>
  updateLeased(db, consumer, { ...UNLEASED, state: 'disabled' });

/**
 * Advances the cursors of idle consumers. Otherwise such a cursor would expire with the entries of other events. Cursors at 0 do not expire
 * and do not advance.
 */
export async function advanceIdleConsumers(db: Database, shardId: number, kind: ConsumerKind) {
  // An idle consumer has nothing to read before the end of the last scan. A scan that runs now finds later entries.
  await sql`
    update journal_consumers set last_offset = scans.last_offset from consumer_scans scans
    where scans.shard_id = ${shardId} and journal_consumers.shard_id = ${shardId}
      and kind = ${kind} and not is_behind and in_flight_until is null
      and journal_consumers.last_offset > 0
      and journal_consumers.last_offset < scans.last_offset`.execute(db);
}

// Changes by capabilities, while another process may hold the lease. `db` is a transaction if the caller changes more with it.

export interface NewConsumer extends Pick<Consumer, 'shardId' | 'eventId' | 'partnerId'> {
  kind: ConsumerKind;
  /** Whether it starts with the next entry instead of the oldest entry that is kept. */
  fromNow?: boolean;
  /** Whether it is paused until it is resumed. */
  isPaused?: boolean;
}

/** Adds a consumer. Returns its id and its first cursor. */
export async function addConsumer(
  db: Database,
  { shardId, kind, eventId, partnerId, fromNow = false, isPaused = false }: NewConsumer,
) {
  const id = randomUUID();
  const cursor = fromNow ? await journalHead(db, shardId) : 0;
  const state = isPaused ? 'paused' : 'active';
  const consumer = { shardId, id, kind, eventId, partnerId, lastOffset: cursor, state } as const;
  await inCamelCase(db).insertInto('journalConsumers').values(consumer).execute();
  return { id, cursor };
}

/** Returns the cursor after the last entry of a shard. */
export async function journalHead(db: Database, shardId: number) {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

/** Locks a consumer until the transaction ends. Returns false if it was deleted. */
export async function lockConsumer(db: Database, { shardId, id }: ConsumerId) {
  const { rows } = await sql`
    select from journal_consumers where shard_id = ${shardId} and id = ${id} for update`.execute(db);
  return rows.length > 0;
}

/** Changes a consumer. A process that holds its lease loses the lease. */
const change = async (db: Database, consumer: ConsumerId, changes: ConsumerChange) =>
  void (await updateConsumer(db, consumer, { ...UNLEASED, ...changes }).execute());

/** Stops a consumer until it is resumed. */
export const pauseConsumer = (db: Database, consumer: ConsumerId) =>
  change(db, consumer, { state: 'paused' });

/**
 * Makes the next attempt of a consumer due at once. `changes` can also set another cursor. If they set the range in flight to null, it is
 * not repeated.
 */
export const retryConsumer = (db: Database, consumer: ConsumerId, changes: ConsumerChange = {}) =>
  change(db, consumer, { failures: 0, failing_since: null, next_at: NOW, ...changes });

/** Resumes a paused or disabled consumer where it stopped. Its next attempt is due at once. */
export const resumeConsumer = (db: Database, consumer: ConsumerId) =>
  retryConsumer(db, consumer, { state: 'active' });

/** Deletes a consumer. A process that holds its lease loses the lease. */
export async function deleteConsumer(db: Database, { shardId, id }: ConsumerId) {
  await db.deleteFrom('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id).execute();
}

/** The dependencies that the delivery process passes to every capability. */
export interface DeliveryContext<Config> {
  db: Database;
  log: Logger;
  metrics: Metrics;
  config: Config;
}

/** A capability that the delivery process has opened. */
export interface OpenDelivery {
  tasks: readonly PeriodicTask[];
  /** Pages for operators, served next to the health endpoint. */
  pages?: readonly Page[];
  /** Starts nothing more. Resolves when nothing is in flight. */
  close(): Promise<void>;
}

/** The interface of a capability to the delivery process. The capability reads the journal and sends messages. */
export interface DeliveryCapability<Settings extends TProperties = TProperties> {
  kind: ConsumerKind;
  settings: Settings;
  open(context: DeliveryContext<Static<TObject<Settings>>>): Promise<OpenDelivery>;
}
