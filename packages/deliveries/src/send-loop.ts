import { setImmediate as yieldToSockets, setTimeout as delay } from 'node:timers/promises';
import { readAtOnce, rememberShards, shardLoader, type Database } from '@floodgate/database';
import { retry as repeat, type PeriodicTask } from '@floodgate/service';
import {
  LEASE_SECONDS,
  leaseDeliveries,
  recordOutcomes,
  renewLeases,
  type Delivery,
  type LeasedKind,
} from './deliveries.ts';
import {
  createCircuitBreaker,
  outcomeOf,
  outcomeOfCrashes,
  putBack,
  retry,
  type Attempt,
  type Ended,
  type Outcome,
} from './outcome.ts';
import { createYielding, type SendingRate } from './pace.ts';

/** How deliveries of one kind become messages. */
export interface DeliveryKind<Message, Item = unknown> extends LeasedKind {
  /**
   * Loads what deliveries of one event need, right before they are sent. Resolves to an item, or to the outcome where nothing is to be
   * sent, by subject. A subject that no longer exists is missing.
   */
  load(deliveries: readonly Delivery[]): Promise<Loaded<Item>>;
  render(item: Item, delivery: Delivery): Promise<Message>;
}

export type Loaded<Item> = Map<string, { item: Item } | { outcome: Outcome }>;

export interface SendLoopOptions<Message> {
  db: Database;
  kinds: readonly DeliveryKind<Message>[];
  /** Never rejects. */
  send: (message: Message) => Promise<Attempt>;
  rate: SendingRate;
  /** Runs before outcomes are recorded, and again if recording fails: outcomes are the last thing that is written. */
  beforeRecord: (ended: readonly Ended<Message>[]) => Promise<void>;
  /** Called with each outcome that was recorded, and after each attempt that found the server unavailable. */
  onOutcome: (outcome: { state: string; reason: string | null }, delivery: Delivery) => void;
  /** `what` failed; it is repeated. */
  onError: (error: Error, what: 'lease' | 'load' | 'render' | 'record', delivery?: Delivery) => void;
}

/** Deliveries that one process may have in `sending`: so many can be sent twice when it is killed. */
export const MOST_SENDING = 100;
const PAGE = 50;
const RENEW_EVERY_MS = 5_000;
/** A lease is renewed when it is older than this, and a delivery is not begun when less than MARGIN_MS are left. */
const RENEW_AFTER_MS = 10_000;
const MARGIN_MS = 3_000;
const LOAD_AGAIN_MS = 1_000;
/** Pause between two statements that record outcomes of a shard, so that each records many. */
const GATHER_MS = 15;
const RECORD_AGAIN_MS = 200;
const CLOSING_MS = 5;
const LOOK_EVERY_MS = 400;
/** So many are begun at a look while the process yields to others. */
const PAGE_WHILE_YIELDING = 20;

/** Sends deliveries: lease, load, send, record. First attempts and retries take the same path. */
export class SendLoop<Message extends { revision: number }> {
  readonly #options: SendLoopOptions<Message>;
  readonly #kinds: ReadonlyMap<string, DeliveryKind<Message>>;
  readonly #breaker = createCircuitBreaker();
  readonly #stopping = new AbortController();
  readonly #abandoning = new AbortController();
  /** Deliveries in `sending`, and how many more were asked for. */
  readonly #sending = new Set<Delivery>();
  #asked = 0;
  readonly #yields = createYielding();
  #leasedAt = -Infinity;
  /** Whether a lease since the last run of the task has found something. */
  #hasLeased = false;
  readonly #readShards: () => Promise<number[]>;
  #shards: readonly number[] = [];
  /** Shards to lease from as soon as there is room, in the order in which they came to wait. */
  readonly #unread = new Set<number>();
  readonly #leasing = new Map<number, Promise<void>>();
  readonly #record = shardLoader(readAtOnce, (batch: (Ended<Message> & { shardId: number })[]) =>
    this.#recordBatch(batch),
  );
  readonly #renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);

  constructor(options: SendLoopOptions<Message>) {
    this.#options = options;
    this.#readShards = rememberShards(options.db);
    this.#kinds = new Map(options.kinds.map((kind) => [kind.name, kind]));
  }

  readonly task: PeriodicTask = {
    name: 'deliveries',
    intervalMs: LOOK_EVERY_MS,
    // Waits for no shard and no server.
    run: async () => {
      this.#shards = await this.#readShards();
      const isIdle = !this.#hasLeased && this.#sending.size === 0;
      this.#hasLeased = false;
      this.look();
      return isIdle ? 'idle' : 'done';
    },
  };

  /** Leases due deliveries in every shard. A shard that does not answer delays no other. */
  look = (): void => {
    this.#shards.forEach((shardId) => this.#unread.add(shardId));
    this.#leaseNext();
  };

  /** Goes on with the shard that has waited longest, so that a probe reaches each of them. */
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

  /** Leases nothing more, and puts back what was not begun. Resolves when every outcome is recorded. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#leasing.values());
    while (this.#sending.size > 0) await delay(CLOSING_MS);
    clearInterval(this.#renewing);
  }

  /** From now on, an outcome that cannot be recorded is lost. */
  abandon(): void {
    this.#abandoning.abort();
  }

  /** Returns how many deliveries to lease next. */
  #wanted(): number {
    const open = this.#sending.size + this.#asked;
    if (this.#stopping.signal.aborted || this.#breaker.opensForMs() > 0) return 0;
    if (this.#breaker.isProbing()) return open > 0 ? 0 : 1;
    const yields = this.#yields();
    if (yields && performance.now() - this.#leasedAt < LOOK_EVERY_MS) return 0;
    const page = Math.min(yields ? PAGE_WHILE_YIELDING : PAGE, this.#options.rate.atOnce);
    return MOST_SENDING - open >= page ? page : 0;
  }

  async #leaseFrom(shardId: number): Promise<void> {
    const { db, kinds } = this.#options;
    for (let most = this.#wanted(), found = 1; most > 0 && found > 0; most = this.#wanted()) {
      this.#asked += most;
      this.#leasedAt = performance.now();
      const withSuspect = ![...this.#sending].some(({ isSuspect }) => isSuspect);
      const leased = leaseDeliveries(db, shardId, kinds, most, withSuspect);
      const page = await leased.finally(() => (this.#asked -= most));
      found = page.length;
      this.#hasLeased ||= found > 0;
      page.forEach((delivery) => this.#sending.add(delivery));
      void this.#sendPage(page);
    }
  }

  async #sendPage(leased: readonly Delivery[]): Promise<void> {
    const page = leased.filter((delivery) => {
      const outcome = outcomeOfCrashes(delivery);
      if (outcome) this.#end({ delivery, outcome });
      return !outcome;
    });
    if (page.length === 0) return;
    await this.#options.rate.take(page.length, this.#stopping.signal);
    for (const group of Map.groupBy(page, ({ kind, eventId }) => `${kind} ${eventId}`).values())
      await this.#sendGroup(this.#kinds.get(group[0]!.kind)!, group);
  }

  /** Sends deliveries of one kind and event. */
  async #sendGroup(kind: DeliveryKind<Message>, group: readonly Delivery[]): Promise<void> {
    const { onError } = this.#options;
    const loaded = await kind.load(group).catch((error: Error) => onError(error, 'load', group[0]));
    for (const delivery of group) {
      const found = loaded?.get(delivery.subject);
      if (!loaded) this.#end({ delivery, outcome: putBack(delivery, null, LOAD_AGAIN_MS) });
      else if (!found) this.#end({ delivery, outcome: { state: 'cancelled', reason: 'missing' } });
      else if ('outcome' in found) this.#end({ delivery, outcome: found.outcome });
      else void this.#sendOne(kind, delivery, found.item);
      await yieldToSockets();
    }
  }

  async #sendOne(kind: DeliveryKind<Message>, delivery: Delivery, item: unknown): Promise<void> {
    const { send, onOutcome, onError } = this.#options;
    const leaseEndsAt = delivery.leasedAt + LEASE_SECONDS * 1_000;
    if (performance.now() > leaseEndsAt - MARGIN_MS) return void this.#sending.delete(delivery);
    const waitMs = this.#breaker.opensForMs();
    if (this.#stopping.signal.aborted || waitMs > 0)
      return this.#end({ delivery, outcome: putBack(delivery, null, waitMs) });
    const rendered = kind.render(item, delivery);
    const message = await rendered.catch((error: Error) => onError(error, 'render', delivery));
    if (!message) return this.#end({ delivery, outcome: retry(delivery, 'not rendered') });
    const attempt = await send(message);
    const triedAt = performance.now();
    const outcome = outcomeOf(delivery, attempt, this.#breaker);
    if (attempt.kind !== 'sent' && this.#breaker.opensForMs() > 0)
      onOutcome({ state: 'unavailable', reason: attempt.reason }, delivery);
    this.#end({ delivery, outcome, message, attempt, triedAt });
  }

  #end(ended: Ended<Message>): void {
    void this.#record({ ...ended, shardId: ended.delivery.shardId });
  }

  /** Records outcomes of one shard. Repeats until Postgres answers: only this process knows what was sent. */
  async #recordBatch(batch: readonly Ended<Message>[]): Promise<[]> {
    const { db, beforeRecord, onOutcome, onError } = this.#options;
    const record = async () => {
      await beforeRecord(batch);
      await recordOutcomes(db, batch[0]!.delivery.shardId, batch);
    };
    const shouldRetry = (error: unknown) => (onError(error as Error, 'record'), true);
    const signal = this.#abandoning.signal;
    const isRecorded = await repeat(record, { delayMs: RECORD_AGAIN_MS, signal, shouldRetry }).then(
      () => true,
      // It stops: the leases expire.
      () => false,
    );
    for (const { delivery, outcome } of batch) {
      this.#sending.delete(delivery);
      // Without a reason it was put back: nothing has happened.
      if (isRecorded && (outcome.reason !== null || outcome.state === 'sent')) onOutcome(outcome, delivery);
    }
    this.look();
    await delay(GATHER_MS);
    return [];
  }

  async #renew(): Promise<void> {
    const { db, onError } = this.#options;
    const old = [...this.#sending].filter(({ leasedAt }) => performance.now() - leasedAt > RENEW_AFTER_MS);
    for (const [shardId, ofShard] of Map.groupBy(old, (delivery) => delivery.shardId))
      await renewLeases(db, shardId, ofShard).catch((error: Error) => onError(error, 'lease'));
  }
}
