import { randomUUID } from 'node:crypto';
import {
  inCamelCase,
  rememberShards,
  type ConsumerKind,
  type Database,
  type Schema,
} from '@floodgate/database';
import { createSemaphore, systemClock, withDeadline, type Clock, type TaskResult } from '@floodgate/service';
import { sql, type UpdateObject } from 'kysely';

// A consumer is a reader of the journal. While a process leases it, each of its updates returns false if the
// lease was lost, or if the consumer was paused or disabled. Then the caller must stop.
//
//                              advance
//                               ┌────┐
//   idle ──news──▶ behind ──▶ leased ─┴▶ release ─▶ behind, or idle if it is caught up
//                               ├───────▶ retryLater, throttle ─▶ behind, due later
//                               └───────▶ disable ─▶ disabled until it is resumed

/** A reader of the journal while this process holds its lease. */
export interface Consumer {
  shardId: number;
  id: string;
  eventId: number;
  /** 0: it reads the entries of all partners. */
  partnerId: number;
  /** Offset up to which everything was delivered. */
  cursor: number;
  /** Last offset of the range being delivered; null if there is none. A retry sends exactly this range. */
  inFlightUntil: number | null;
  /** Offset of its newest entry that was known when it was leased; null if no scan had found one. */
  newsOffset: number | null;
  /** Consecutive failed attempts. */
  failures: number;
  /** Start of the current run of failed or throttled attempts; null if the last attempt succeeded. */
  failingSince: Date | null;
  /** Identifies this lease. */
  lease: string;
  /** How long the lease lasts from each advance on. */
  leaseSeconds: number;
}

/** Identifies a consumer. */
export type ConsumerId = Pick<Consumer, 'shardId' | 'id'>;

/** How long the consumers of a killed process stay leased. Longer than any attempt to send a message. */
export const CONSUMER_LEASE_SECONDS = 25;

const NOW = sql<Date>`now()`;
const inSeconds = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`;

/** Leases up to `limit` consumers of a shard that are behind and due, the longest waiting first. */
export async function leaseConsumers(
  db: Database,
  shardId: number,
  kind: ConsumerKind,
  limit: number,
  leaseSeconds = CONSUMER_LEASE_SECONDS,
): Promise<Consumer[]> {
  const news = await sql<{ areDue: boolean }>`select find_news(${shardId}, ${kind}) as "areDue"`.execute(db);
  if (!news.rows[0]!.areDue) return [];
  const { rows } = await sql<Omit<Consumer, 'leaseSeconds'> & { nextAt: Date }>`
    update journal_consumers set lease = ${randomUUID()}, leased_until = ${inSeconds(leaseSeconds)}
    where shard_id = ${shardId} and id = any(array(
      select id from journal_consumers
      where shard_id = ${shardId} and kind = ${kind} and is_behind and state = 'active' and next_at <= now()
        and (leased_until is null or leased_until <= now())
      order by next_at limit ${limit} for update skip locked
    ))
    returning shard_id, id, event_id, partner_id, last_offset as cursor, in_flight_until, news_offset,
      failures, failing_since, lease, next_at`.execute(inCamelCase(db));
  return rows
    .toSorted((left, right) => +left.nextAt - +right.nextAt)
    .map(({ nextAt: _nextAt, ...consumer }) => ({ ...consumer, leaseSeconds }));
}

export type ConsumerChange = UpdateObject<Schema, 'journal_consumers'>;

export const updateConsumer = (db: Database, { shardId, id }: ConsumerId, change: ConsumerChange) =>
  db.updateTable('journal_consumers').set(change).where('shard_id', '=', shardId).where('id', '=', id);

async function updateLeased(db: Database, consumer: Consumer, change: ConsumerChange) {
  const { lease } = consumer;
  const update = updateConsumer(db, consumer, change).where(({ and }) => and({ lease, state: 'active' }));
  return (await update.executeTakeFirstOrThrow()).numUpdatedRows > 0n;
}

/**
 * Records that everything up to the cursor was delivered, and the next range in flight. Extends the lease.
 */
export const advance = (
  db: Database,
  consumer: Consumer,
  cursor: number,
  inFlightUntil: number | null = null,
) =>
  updateLeased(db, consumer, {
    last_offset: cursor,
    in_flight_until: inFlightUntil,
    failures: 0,
    failing_since: null,
    leased_until: inSeconds(consumer.leaseSeconds),
  });

export const UNLEASED = { lease: null, leased_until: null };

/** Releases a consumer. It can be leased again after the delay, behind consumers that have waited longer. */
export const release = (db: Database, consumer: Consumer, delayMs = 0, change: ConsumerChange = {}) =>
  updateLeased(db, consumer, { ...UNLEASED, next_at: inSeconds(delayMs / 1_000), ...change });

/**
 * Releases a consumer that has read the journal to its end. It becomes idle, unless a scan has found news
 * since it was leased. (Its cursor can stay below the news: if entries expired, and at 0 while there was
 * nothing to read.)
 */
export const releaseCaughtUp = (db: Database, consumer: Consumer) =>
  release(db, consumer, 0, {
    news_offset: sql<number>`case
      when news_offset is not distinct from ${consumer.newsOffset}::bigint then least(news_offset, last_offset)
      else news_offset end`,
  });

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
 * A poll that takes longer releases its permit, so that a shard that does not answer does not delay the
 * others.
 */
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
  /** Maximum number of consumers that this process runs at the same time. */
  concurrency: number;
  /** Longer than a step of a run. A killed process delays its consumers for so long. */
  leaseSeconds?: number;
  /**
   * Called when a run failed. The consumer is leased again a second later, or after the next poll that
   * Postgres answers.
   */
  onError: (error: Error, consumer: Consumer) => void;
  /**
   * Delivers for one consumer, for a short time so that others are served. Must advance the consumer before
   * its lease ends, which extends the lease. The signal is aborted when the process stops: messages in flight
   * end or are abandoned.
   */
  run: (consumer: Consumer, signal: AbortSignal) => Promise<RunEnd>;
  clock?: Clock | undefined;
}

/**
 * Runs the consumers of a kind: many at the same time, each in one process at a time. This is the only way to
 * consume the journal. It polls for consumers, so a lost notification cannot delay a delivery.
 */
export function runConsumers(options: ConsumersOptions) {
  const { db, kind, concurrency, leaseSeconds, onError, run, clock = systemClock } = options;
  const stopping = new AbortController();
  const shards = rememberShards(db);
  const running = new Map<string, Promise<unknown>>();
  const failedRuns = createFailedRuns(db);
  /** Running polls by shard. Each shard has at most one. */
  const polls = new Map<number, Promise<void>>();
  /**
   * Shards in which consumers may wait because this process had no capacity for them, longest waiting first.
   */
  const crowded = new Set<number>();
  // One poll at a time: two would both see the same free capacity.
  const oneAtATime = createSemaphore(1, POLL_PATIENCE_MS, clock);

  async function runOnce(consumer: Consumer): Promise<RunEnd | 'failed'> {
    try {
      const end = stopping.signal.aborted ? 'more' : await run(consumer, stopping.signal);
      if (end !== 'released') await (end === 'more' ? release : releaseCaughtUp)(db, consumer);
      return end;
    } catch (error) {
      onError(error as Error, consumer);
      await failedRuns.release(consumer);
      return 'failed';
    }
  }

  async function leaseFrom(shardId: number, limit: number): Promise<Consumer[]> {
    await failedRuns.releaseAgain(shardId);
    return leaseConsumers(db, shardId, kind, limit, leaseSeconds);
  }

  async function start(consumer: Consumer): Promise<void> {
    // Its lease expired during a run of this process. That run may still have a message in flight.
    if (running.has(consumer.id)) return void (await release(db, consumer, AFTER_OLD_RUN_MS).catch(() => {}));
    const ended = runOnce(consumer);
    running.set(consumer.id, ended);
    const end = await ended;
    running.delete(consumer.id);
    // Polls immediately, so that the next consumer does not wait for the next round. The next round repeats a
    // failed poll.
    const toPoll = end === 'more' ? [...crowded, consumer.shardId] : [...crowded];
    await Promise.allSettled(toPoll.map(poll));
  }

  async function poll(shardId: number): Promise<void> {
    if (polls.has(shardId)) return;
    const polled = oneAtATime(async () => {
      if (stopping.signal.aborted) return;
      const free = concurrency - running.size;
      const leased = free > 0 ? await leaseFrom(shardId, free) : [];
      crowded.delete(shardId);
      if (leased.length >= free) crowded.add(shardId);
      for (const consumer of leased) void start(consumer);
    }).finally(() => polls.delete(shardId));
    polls.set(shardId, polled);
    await polled;
  }

  return {
    /** Starts runs for consumers that are behind, up to the capacity. */
    async poll(): Promise<TaskResult> {
      const polled = Promise.allSettled((await shards()).map(poll));
      const results = await withDeadline(polled, ROUND_MS, () => [], clock);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
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

/** Releases consumers whose run failed. */
function createFailedRuns(db: Database) {
  /**
   * Consumers whose release failed as well, for example in a failover. Nobody could lease them until the
   * lease expires.
   */
  const unreleased = new Set<Consumer>();
  return {
    async release(consumer: Consumer): Promise<void> {
      await release(db, consumer, AFTER_FAILURE_MS).catch(() => unreleased.add(consumer));
    },
    /** Releases those of a shard that could not be released before. */
    async releaseAgain(shardId: number): Promise<void> {
      for (const consumer of unreleased) {
        if (consumer.shardId !== shardId) continue;
        await release(db, consumer);
        unreleased.delete(consumer);
      }
    },
  };
}
