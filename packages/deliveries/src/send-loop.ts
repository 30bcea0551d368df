import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { readAtOnce, rememberShards, shardLoader, type Database } from '@floodgate/database';
import { retry, sleep, systemClock, type Clock, type PeriodicTask, type Timer } from '@floodgate/service';
import { createCircuitBreaker, type CircuitBreaker } from './circuit-breaker.ts';
import { createYielding } from './cpu-yielding.ts';
import {
  DELIVERY_LEASE_SECONDS,
  leaseDeliveries,
  recordOutcomes,
  renewLeases,
  type Delivery,
  type EndedDelivery,
  type LeasedKind,
  type SentMessage,
} from './delivery-rows.ts';
import {
  failedAttempt,
  outcomeOf,
  outcomeOfCrashes,
  putBack,
  type Attempt,
  type Outcome,
} from './outcomes.ts';

/** Loads and renders the deliveries of one kind. */
export interface DeliveryKind<Message, Item = unknown> extends LeasedKind {
  /**
   * Loads the data of deliveries of one event, right before they are sent. Resolves by subject to an item, or
   * to an outcome if nothing must be sent. Subjects that no longer exist are missing.
   */
  load(deliveries: readonly Delivery[]): Promise<LoadedItems<Item>>;
  render(item: Item, delivery: Delivery): Promise<Message>;
}

/** By subject, what to send, or the outcome of a delivery that must not be sent. */
export type LoadedItems<Item> = Map<string, { item: Item } | { outcome: Outcome }>;

/** The rate limiter of a loop. */
export interface SendingRate {
  /** Maximum `count` of one call of `take`. */
  limitPerCall: number;
  /** Resolves when `count` messages may be sent, or when the signal is aborted. */
  take: (count: number, signal: AbortSignal) => Promise<void>;
}

/** A recorded outcome, or `unavailable` for an attempt that found the server unavailable. */
export interface ReportedOutcome {
  state: Outcome['state'] | 'unavailable';
  reason: string | null;
}

export interface SendLoopOptions<Message> {
  db: Database;
  kinds: readonly DeliveryKind<Message>[];
  /** Never rejects. */
  send: (message: Message) => Promise<Attempt>;
  rate: SendingRate;
  /** Runs before outcomes are recorded, which is the last write. Runs again if recording fails. */
  beforeRecord: (ended: readonly EndedDelivery<Message>[]) => Promise<void>;
  /** Called with each recorded outcome, and after each attempt that found the server unavailable. */
  onOutcome: (outcome: ReportedOutcome, delivery: Delivery) => void;
  /** Called if the step `what` failed. The step is retried. */
  onError: (error: Error, what: 'lease' | 'load' | 'render' | 'record', delivery?: Delivery) => void;
  clock?: Clock | undefined;
}

/**
 * Maximum number of deliveries in `sending` per process. A killed process can cause at most this many
 * duplicates.
 */
export const MAX_SENDING = 100;
const PAGE = 50;
const RENEW_EVERY_MS = 5_000;
/**
 * A lease that is older than this is renewed. A delivery is not started if its lease ends within MARGIN_MS.
 */
const RENEW_AFTER_MS = 10_000;
const MARGIN_MS = 3_000;
const LOAD_AGAIN_MS = 1_000;
/** Pause between two statements that record outcomes of a shard, so that each records many. */
const GATHER_MS = 15;
const RECORD_AGAIN_MS = 200;
const CLOSING_MS = 5;
const POLL_INTERVAL_MS = 400;
/** Deliveries that are leased per poll while the process yields to others. */
const PAGE_WHILE_YIELDING = 20;

/**
 * Sends queued deliveries: lease, load, render, send, record. First attempts and retries take the same path.
 * It polls, so a lost call of `wake` delays a delivery and loses none.
 */
export class SendLoop<Message extends { revision: number }> {
  readonly #options: SendLoopOptions<Message>;
  readonly #clock: Clock;
  readonly #breaker: CircuitBreaker;
  readonly #stopping = new AbortController();
  readonly #abandoning = new AbortController();
  /** Deliveries in `sending`. */
  readonly #sending = new Set<Delivery>();
  /** Limits of the lease statements that run now. */
  #requested = 0;
  readonly #mustYield = createYielding();
  #leasedAt = -Infinity;
  /** Whether a delivery was leased since the last run of the task. */
  #hasLeased = false;
  readonly #readShards: () => Promise<number[]>;
  #shards: readonly number[] = [];
  /** Shards to lease from when there is capacity, longest waiting first. */
  readonly #unread = new Set<number>();
  readonly #leasing = new Map<number, Promise<void>>();
  /** Shards in which deliveries were queued since their last lease statement started. */
  readonly #woken = new Set<number>();
  readonly #record = shardLoader(readAtOnce, (batch: EndedDelivery<Message>[]) => this.#recordBatch(batch));
  #renewing: Timer;

  constructor(options: SendLoopOptions<Message>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#breaker = createCircuitBreaker(this.#clock);
    this.#renewing = this.#scheduleRenewal();
    this.#readShards = rememberShards(options.db);
  }

  readonly task: PeriodicTask = {
    name: 'deliveries',
    intervalMs: POLL_INTERVAL_MS,
    // Does not wait for a shard or a server.
    run: async () => {
      this.#shards = await this.#readShards();
      const isIdle = !this.#hasLeased && this.#sending.size === 0;
      this.#hasLeased = false;
      this.#poll();
      return isIdle ? 'idle' : 'done';
    },
  };

  /** Leases from a shard now, because deliveries were queued in it. */
  wake(shardId: number): void {
    this.#woken.add(shardId);
    this.#unread.add(shardId);
    this.#leaseNext();
  }

  /** Leases due deliveries in every shard. A shard that does not answer does not delay the others. */
  #poll(): void {
    this.#shards.forEach((shardId) => this.#unread.add(shardId));
    this.#leaseNext();
  }

  /** Leases from the shard that has waited longest, so that probes reach every shard. */
  #leaseNext(): void {
    for (const shardId of this.#unread) {
      if (this.#wanted() === 0) return;
      this.#unread.delete(shardId);
      if (this.#leasing.has(shardId)) continue;
      const leased = this.#leaseFrom(shardId)
        .catch((error: Error) => this.#options.onError(error, 'lease'))
        .finally(() => {
          this.#leasing.delete(shardId);
          this.#leaseNext();
        });
      this.#leasing.set(shardId, leased);
    }
  }

  /**
   * Stops leasing, and puts back deliveries that were not started. Resolves when every outcome is recorded.
   */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#leasing.values());
    while (this.#sending.size > 0) await sleep(this.#clock, CLOSING_MS);
    this.#clock.clearTimeout(this.#renewing);
  }

  /** Stops retrying to record outcomes: an outcome that cannot be recorded is lost. */
  abandon(): void {
    this.#abandoning.abort();
  }

  /** Returns how many deliveries to lease next. */
  #wanted(): number {
    const open = this.#sending.size + this.#requested;
    if (this.#stopping.signal.aborted || this.#breaker.opensForMs() > 0) return 0;
    if (this.#breaker.isProbing()) return open > 0 ? 0 : 1;
    const yields = this.#mustYield();
    if (yields && this.#clock.now() - this.#leasedAt < POLL_INTERVAL_MS) return 0;
    const page = Math.min(yields ? PAGE_WHILE_YIELDING : PAGE, this.#options.rate.limitPerCall);
    return MAX_SENDING - open >= page ? page : 0;
  }

  async #leaseFrom(shardId: number): Promise<void> {
    for (let limit = this.#wanted(), hasMore = true; limit > 0 && hasMore; limit = this.#wanted()) {
      this.#requested += limit;
      this.#leasedAt = this.#clock.now();
      hasMore = await this.#leasePage(shardId, limit).finally(() => (this.#requested -= limit));
      this.#hasLeased ||= hasMore;
    }
  }

  /** Leases a page and starts to send it. Resolves to whether more may be due. */
  async #leasePage(shardId: number, limit: number): Promise<boolean> {
    const { db, kinds } = this.#options;
    const withSuspect = ![...this.#sending].some(({ isSuspect }) => isSuspect);
    this.#woken.delete(shardId);
    const page = await leaseDeliveries(db, shardId, kinds, limit, withSuspect, this.#clock);
    page.forEach((delivery) => this.#sending.add(delivery));
    void this.#sendPage(page);
    return page.length > 0 || this.#woken.has(shardId);
  }

  async #sendPage(leased: readonly Delivery[]): Promise<void> {
    const page = leased.filter((delivery) => {
      const outcome = outcomeOfCrashes(delivery);
      if (outcome) this.#end(delivery, outcome);
      return !outcome;
    });
    if (page.length === 0) return;
    const { kinds, rate } = this.#options;
    await rate.take(page.length, this.#stopping.signal);
    for (const group of Map.groupBy(page, ({ kind, eventId }) => `${kind} ${eventId}`).values())
      await this.#sendGroup(
        kinds.find((kind) => kind.name === group[0]!.kind)!,
        group,
      );
  }

  /** Sends deliveries of one kind and event. */
  async #sendGroup(kind: DeliveryKind<Message>, group: readonly Delivery[]): Promise<void> {
    const { onError } = this.#options;
    const loaded = await kind.load(group).catch((error: Error) => onError(error, 'load', group[0]));
    for (const delivery of group) {
      const content = loaded?.get(delivery.subject);
      if (!loaded) this.#end(delivery, putBack(delivery, null, LOAD_AGAIN_MS));
      else if (!content) this.#end(delivery, { state: 'cancelled', reason: 'missing' });
      else if ('outcome' in content) this.#end(delivery, content.outcome);
      else void this.#sendOne(kind, delivery, content.item);
      await yieldToEventLoop();
    }
  }

  async #sendOne(kind: DeliveryKind<Message>, delivery: Delivery, item: unknown): Promise<void> {
    const { send, onOutcome, onError } = this.#options;
    const leaseEndsAt = delivery.leasedAt + DELIVERY_LEASE_SECONDS * 1_000;
    const isExpiring = this.#clock.now() > leaseEndsAt - MARGIN_MS;
    const waitMs = this.#breaker.opensForMs();
    // Put back before the lease ends: an expired lease counts as a crash, after which the message may be sent
    // twice.
    if (isExpiring || this.#stopping.signal.aborted || waitMs > 0)
      return this.#end(delivery, putBack(delivery, null, waitMs));
    const rendered = kind.render(item, delivery);
    const message = await rendered.catch((error: Error) => onError(error, 'render', delivery));
    if (!message) return this.#end(delivery, failedAttempt(delivery, 'not rendered'));
    const attempt = await send(message);
    const triedAt = this.#clock.now();
    const outcome = outcomeOf(delivery, attempt, this.#breaker);
    if (attempt.kind !== 'sent' && this.#breaker.opensForMs() > 0)
      onOutcome({ state: 'unavailable', reason: attempt.reason }, delivery);
    this.#end(delivery, outcome, { message, attempt, triedAt });
  }

  #end(delivery: Delivery, outcome: Outcome, sent?: SentMessage<Message>): void {
    void this.#record({ ...sent, delivery, outcome, shardId: delivery.shardId });
  }

  /**
   * Records outcomes of one shard. Retries until Postgres answers, because only this process knows which
   * messages were sent.
   */
  async #recordBatch(batch: readonly EndedDelivery<Message>[]): Promise<[]> {
    const { db, beforeRecord, onOutcome, onError } = this.#options;
    const record = async () => {
      await beforeRecord(batch);
      await recordOutcomes(db, batch[0]!.shardId, batch, this.#clock);
      return true;
    };
    const shouldRetry = (error: unknown) => {
      onError(error as Error, 'record');
      return true;
    };
    const signal = this.#abandoning.signal;
    const options = { delayMs: RECORD_AGAIN_MS, signal, shouldRetry, clock: this.#clock };
    // If the process stops first, the leases expire.
    const isRecorded = await retry(record, options).catch(() => false);
    for (const { delivery, outcome } of batch) {
      this.#sending.delete(delivery);
      // A delivery that was put back without a reason is not reported: there was no attempt.
      if (isRecorded && (outcome.reason !== null || outcome.state === 'sent')) onOutcome(outcome, delivery);
    }
    this.#poll();
    await sleep(this.#clock, GATHER_MS);
    return [];
  }

  #scheduleRenewal(): Timer {
    return this.#clock.setTimeout(() => {
      this.#renewing = this.#scheduleRenewal();
      void this.#renew();
    }, RENEW_EVERY_MS);
  }

  async #renew(): Promise<void> {
    const { db, onError } = this.#options;
    const toRenew = [...this.#sending].filter(
      ({ leasedAt }) => this.#clock.now() - leasedAt > RENEW_AFTER_MS,
    );
    for (const [shardId, ofShard] of Map.groupBy(toRenew, (delivery) => delivery.shardId))
      await renewLeases(db, shardId, ofShard, this.#clock).catch((error: Error) => onError(error, 'lease'));
  }
}
