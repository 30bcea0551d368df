import { setImmediate as yieldToSockets, setTimeout as delay } from 'node:timers/promises';
import { shardIds, type Database } from '@floodgate/database';
import type { PeriodicTask } from '@floodgate/service';
import { createCircuitBreaker } from './circuit-breaker.ts';
import {
  LEASE_SECONDS,
  leaseDeliveries,
  renewLeases,
  type Delivery,
  type LeaseFilter,
} from './deliveries.ts';
import { outcomeOf, putBack, retry, type Attempt, type Outcome } from './outcome.ts';
import { createRecorder, type Ended, type Recorder } from './record-loop.ts';
import type { SendingRate } from './sending-rate.ts';

/** The fields of a message that the loop needs. */
export interface DeliveryMessage {
  /** The edition that it is. */
  revision: number;
}

/** How deliveries of one kind become messages. */
export interface DeliveryKind<Message, Item = unknown> {
  name: string;
  /**
   * Loads what deliveries of one event need, right before they are sent. Resolves to an item, or to the outcome where nothing is to be
   * sent, by subject. A subject that no longer exists is missing.
   */
  load(deliveries: readonly Delivery[]): Promise<Loaded<Item>>;
  render(item: Item, delivery: Delivery): Message | Promise<Message>;
}

export type Loaded<Item> = ReadonlyMap<string, { item: Item } | { outcome: Outcome }>;

export interface SendLoopOptions<Message extends DeliveryMessage> {
  db: Database;
  sources: readonly { filter: LeaseFilter; kinds: readonly DeliveryKind<Message>[] }[];
  /** Never rejects. */
  send: (message: Message) => Promise<Attempt>;
  rate: SendingRate;
  beforeRecord?: (ended: readonly Ended<Message>[]) => Promise<void>;
  /** Called with each outcome that was recorded, and after each attempt that found the server unavailable. */
  onOutcome: (outcome: { state: string; reason: string | null }, delivery: Delivery) => void;
  /** `what` failed; it is repeated. */
  onError: (error: Error, what: 'lease' | 'load' | 'render' | 'record', delivery?: Delivery) => void;
}

/** Deliveries that one process may have in `sending`: so many can be sent twice when it is killed. */
export const MOST_SENDING = 100;
const PAGE = 25;
const RENEW_EVERY_MS = 5_000;
/** A lease is renewed when it is older than this, and a delivery is not begun when less than MARGIN_MS are left. */
const RENEW_AFTER_MS = 10_000;
const MARGIN_MS = 3_000;
const LOAD_AGAIN_MS = 1_000;
const CLOSING_MS = 5;
const LOOK_EVERY_MS = 200;

interface Leased extends Delivery {
  leasedAt: number;
}

/** Starts the loop that sends deliveries: lease, load, send, record. First attempts and retries take the same path. */
export const startSendLoop = <Message extends DeliveryMessage>(options: SendLoopOptions<Message>) =>
  new SendLoop(options);

export class SendLoop<Message extends DeliveryMessage> {
  readonly #options: SendLoopOptions<Message>;
  readonly #kinds: ReadonlyMap<string, DeliveryKind<Message>>;
  readonly #recorder: Recorder<Message>;
  readonly #breaker = createCircuitBreaker();
  readonly #stopping = new AbortController();
  /** Deliveries in `sending`, and how many more were asked for. */
  readonly #sending = new Set<Leased>();
  #asked = 0;
  #shards: readonly number[] = [];
  /** Shards to lease from as soon as there is room, in the order in which they came to wait. */
  readonly #unread = new Set<number>();
  readonly #leasing = new Map<number, Promise<void>>();
  readonly #renewing = setInterval(() => void this.#renew(), RENEW_EVERY_MS);

  constructor(options: SendLoopOptions<Message>) {
    const { db, sources, beforeRecord, onError } = options;
    this.#options = options;
    this.#kinds = new Map(sources.flatMap(({ kinds }) => kinds.map((kind) => [kind.name, kind])));
    this.#recorder = createRecorder({ db, beforeRecord, onError: (error) => onError(error, 'record') });
  }

  readonly task: PeriodicTask = {
    name: 'deliveries',
    intervalMs: LOOK_EVERY_MS,
    // Waits for no shard and no server.
    run: async () => {
      this.#shards = await shardIds(this.#options.db);
      this.look();
      return 'done';
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
    this.#recorder.stop();
  }

  /** Returns how many deliveries to lease next. */
  #wanted(): number {
    const open = this.#sending.size + this.#asked;
    if (this.#stopping.signal.aborted || this.#breaker.opensForMs() > 0) return 0;
    if (this.#breaker.isProbing()) return open > 0 ? 0 : 1;
    const page = Math.min(PAGE, this.#options.rate.atOnce);
    return MOST_SENDING - open >= page ? page : 0;
  }

  async #leaseFrom(shardId: number): Promise<void> {
    for (const { filter } of this.#options.sources)
      for (let most = this.#wanted(), found = 1; most > 0 && found > 0; most = this.#wanted()) {
        this.#asked += most;
        const leasedAt = performance.now();
        const leased = await leaseDeliveries(this.#options.db, shardId, filter, most).finally(
          () => (this.#asked -= most),
        );
        found = leased.length;
        void this.#sendPage(leased.map((delivery) => ({ ...delivery, leasedAt })));
      }
  }

  async #sendPage(page: readonly Leased[]): Promise<void> {
    if (page.length === 0) return;
    page.forEach((delivery) => this.#sending.add(delivery));
    const isAllowed = await this.#options.rate.take(page.length, this.#stopping.signal);
    const groups = Map.groupBy(page, ({ kind, eventId }) => `${kind} ${eventId}`);
    for (const group of groups.values())
      if (isAllowed) await this.#sendGroup(this.#kinds.get(group[0]!.kind)!, group);
      else group.forEach((delivery) => void this.#end(delivery, putBack(delivery, null)));
  }

  /** Sends deliveries of one kind and event. */
  async #sendGroup(kind: DeliveryKind<Message>, group: readonly Leased[]): Promise<void> {
    const { onError } = this.#options;
    const loaded = await kind.load(group).catch((error: Error) => onError(error, 'load', group[0]));
    for (const delivery of group) {
      const found = loaded?.get(delivery.subject);
      if (!loaded) void this.#end(delivery, putBack(delivery, null, LOAD_AGAIN_MS));
      else if (!found) void this.#end(delivery, { state: 'cancelled', reason: 'missing' });
      else if ('outcome' in found) void this.#end(delivery, found.outcome);
      else void this.#sendOne(kind, delivery, found.item);
      await yieldToSockets();
    }
  }

  async #sendOne(kind: DeliveryKind<Message>, delivery: Leased, item: unknown): Promise<void> {
    const { send, onOutcome } = this.#options;
    const leaseEndsAt = delivery.leasedAt + LEASE_SECONDS * 1_000;
    if (performance.now() > leaseEndsAt - MARGIN_MS) return void this.#sending.delete(delivery);
    const waitMs = this.#breaker.opensForMs();
    if (this.#stopping.signal.aborted || waitMs > 0)
      return this.#end(delivery, putBack(delivery, null, waitMs));
    const message = await this.#render(kind, delivery, item);
    if (!message) return this.#end(delivery, retry(delivery, 'not rendered'));
    const attempt = await send(message);
    const outcome = outcomeOf(delivery, attempt, this.#breaker);
    if (attempt.kind !== 'sent' && this.#breaker.opensForMs() > 0)
      onOutcome({ state: 'unavailable', reason: attempt.reason }, delivery);
    return this.#end(delivery, outcome, message, attempt);
  }

  async #render(kind: DeliveryKind<Message>, delivery: Leased, item: unknown): Promise<Message | null> {
    try {
      return await kind.render(item, delivery);
    } catch (error) {
      this.#options.onError(error as Error, 'render', delivery);
      return null;
    }
  }

  async #end(
    delivery: Leased,
    outcome: Outcome,
    message: Message | null = null,
    attempt: Attempt | null = null,
  ): Promise<void> {
    // Rejects only while the process stops; the lease expires then.
    const isRecorded = await this.#recorder.record({ delivery, outcome, message, attempt }).then(
      () => true,
      () => false,
    );
    this.#sending.delete(delivery);
    // Without a reason it was put back: nothing has happened.
    if (isRecorded && (outcome.reason !== null || outcome.state === 'sent'))
      this.#options.onOutcome(outcome, delivery);
    this.look();
  }

  async #renew(): Promise<void> {
    const { db, onError } = this.#options;
    const renewedAt = performance.now();
    const old = [...this.#sending].filter(({ leasedAt }) => renewedAt - leasedAt > RENEW_AFTER_MS);
    for (const [shardId, ofShard] of Map.groupBy(old, (delivery) => delivery.shardId)) {
      const kept = await renewLeases(db, shardId, ofShard).catch((error: Error) => onError(error, 'lease'));
      kept?.forEach((delivery) => (delivery.leasedAt = renewedAt));
    }
  }
}
