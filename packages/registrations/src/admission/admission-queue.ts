import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FailureCode } from '@floodgate/contract';
import type { Call, onRequestHookHandler, Principal } from '@floodgate/http';
import { systemClock, type Clock, type Timer } from '@floodgate/service/clock';
import { LARGE_UNITS, PartnerQueues, type Partner, type Waiting } from './partner-queues.ts';

/** Options of a queue that do not depend on its items. */
export interface QueueOptions {
  /** Units of one group. */
  groupLimit: number;
  /**
   * Units that may wait. Fewer may wait while groups take so long that the last unit could not be answered in
   * time.
   */
  waitingLimit: number;
  answerWithinMs: number;
  /** Called when a group has ended: its committed units, and how long it took. */
  onGroup?: ((units: number, tookMs: number) => void) | undefined;
  clock?: Clock | undefined;
}

export interface AdmissionOptions<Item, Outcome> extends QueueOptions {
  /**
   * Commits a group of one shard. Resolves to one outcome per item, in order and within reasonable time;
   * never rejects.
   */
  commit: (items: Item[], shardId: number) => Promise<Outcome[]>;
  unitsOf: (item: Item) => number;
  /** Outcome of an item that was refused or waited too long: nothing was committed. */
  overloaded: Outcome;
  /** Outcome of an item whose group is in flight for too long: the group may still commit. */
  unknown: Outcome;
  /** By default, all items are admitted together. */
  exclusive?: Exclusive<Item, Outcome>;
}

/** Of items with the same key, one is admitted. The others are refused until it is answered. */
interface Exclusive<Item, Outcome> {
  /** Returns the key of an item, or null if it has none. */
  keyOf: (principal: Principal, item: Item) => string | null;
  /** Outcome of an item whose key another item has. */
  inProgress: Outcome;
}

/** Answers a request with a failure. */
export interface FailingReply<Answer> {
  fail(code: FailureCode, specifics?: object): Answer;
}

/** The queues of all shards for one kind of item. */
export interface Admission<Item, Outcome> {
  /**
   * Answers with a failure. Retry-After is the time until all waiting items are committed, at the pace of the
   * last groups.
   */
  refuse: <Answer>(
    request: Pick<Call, 'principal'>,
    reply: FailingReply<Answer>,
    code: FailureCode,
    specifics?: { message?: string; invalidFields?: readonly object[] },
  ) => Answer;
  /**
   * Refuses a request before its body is read when the queue is full: reading it would delay admitted
   * callers.
   */
  refuseWhenFull: onRequestHookHandler;
  /** Resolves to the outcome of the item; never rejects. */
  submit: (call: Call, item: Item) => Promise<Outcome>;
  /** Returns the number of units that wait for a commit now. */
  waiting: () => number;
  /** Returns whether small items were submitted within the last second. */
  servesSmallItems: () => boolean;
  /** Resolves when every submitted item is answered. */
  drain: () => Promise<unknown>;
}

interface Member<Item, Outcome> extends Waiting {
  item: Item;
  answer: (outcome: Outcome) => void;
}

/** Opens one queue per shard, so that a slow shard delays its own items only. */
export function createAdmission<Item, Outcome>(
  options: AdmissionOptions<Item, Outcome>,
): Admission<Item, Outcome> {
  const { exclusive } = options;
  const keysInProgress = new Set<string>();
  const queues = new Map<number, AdmissionQueue<Item, Outcome>>();
  const queueOf = ({ shardId }: Principal) =>
    queues.getOrInsertComputed(shardId, () => new AdmissionQueue(options, shardId));

  const refuse: Admission<Item, Outcome>['refuse'] = ({ principal }, reply, code, specifics) =>
    reply.fail(code, { ...specifics, retryAfterSeconds: queueOf(principal).secondsToDrain() });

  return {
    refuse,
    refuseWhenFull(request, reply, done) {
      if (queueOf(request.principal).admits(request.principal)) done();
      else refuse(request, reply, '90');
    },
    submit({ principal, startedAt }, item) {
      const queue = queueOf(principal);
      const key = exclusive?.keyOf(principal, item);
      if (!exclusive || key == null) return queue.submit(item, principal, startedAt);
      if (keysInProgress.has(key)) return Promise.resolve(exclusive.inProgress);
      keysInProgress.add(key);
      return queue.submit(item, principal, startedAt).finally(() => keysInProgress.delete(key));
    },
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.waiting, 0),
    servesSmallItems: () => [...queues.values()].some((queue) => queue.servesSmallItems()),
    drain: () => Promise.all(Array.from(queues.values(), (queue) => queue.drain())),
  };
}

/**
 * Share of the answer time that an item may wait. A queue longer than a burst needs grants no seat sooner,
 * and it must be drained after the overload: at half the load, in twice this time.
 */
const WAITING_SHARE = 1 / 8;
/**
 * The fastest of this many groups determines how long a group takes. With fewer, a pause of a busy machine
 * would shrink the queue and cause refusals. A refusal costs half of what a registration costs, so the
 * machine would get even busier.
 */
const GROUPS_MEASURED = 4;
/** Each group reduces the weight of the earlier ones by this factor: about the last ten count. */
const KEPT = 0.9;
/** Assumed duration of a full group before one was measured. */
const USUAL_GROUP_MS = 50;
/**
 * Fraction of the due answers per tick of the event loop, so that requests can be read in between. At least
 * MIN_ANSWERS.
 */
const ANSWERED_SHARE = 1 / 4;
const MIN_ANSWERS = 16;
/**
 * libuv may read tens of thousands of sockets before an immediate runs. A tick also comes after this many
 * refusals, so that refused callers cannot delay the answers of admitted ones.
 */
const REFUSALS_PER_TICK = 64;
/**
 * When full, partners below their fair share are still admitted, until this many times the capacity waits.
 */
const OVERFULL = 2;
const SWEEP_INTERVAL_MS = 50;
/**
 * An item is overdue this long before its deadline, because the sweep runs late and the answer takes time as
 * well.
 */
const SWEEP_EARLY_MS = 2 * SWEEP_INTERVAL_MS;
/** Small calls count as being served for this long after the last one. */
const RECENT_MS = 1_000;

/**
 * Admits items, commits them in groups, one group at a time, and answers them.
 *
 *             submit                  committed
 *    ┌──────┐ ─────▶ ┌────────────┐ ───────────▶ ┌───────────┐
 *    │ idle │        │ committing │              │ answering │
 *    └──────┘        └────────────┘ ◀─────────── └───────────┘
 *        ▲              as many wait as are unanswered │
 *        └──────── all answered, nothing waits ────────┘
 *
 *   refused when full: overloaded · overdue while waiting: overloaded · overdue while committing: unknown
 *
 * No timer delays an item: an idle queue commits what arrived in one tick of the event loop. Under load,
 * answering takes as long as committing, and an answered caller soon sends its next item. So the next group
 * leaves when as many items wait as are unanswered: Postgres works on one half while this process answers the
 * other. An earlier group would be smaller, which costs more. After the last answer, Postgres and this
 * process would wait for each other.
 */
export class AdmissionQueue<Item, Outcome> {
  readonly #options: AdmissionOptions<Item, Outcome>;
  readonly #shardId: number;
  readonly #clock: Clock;
  readonly #waiting: PartnerQueues<Member<Item, Outcome>>;
  /** How long the last groups took. */
  #lastMs = Array<number>(GROUPS_MEASURED).fill(0);
  /** Units that may wait now. By Little's law, a new item waits for the groups ahead of it. */
  #capacity: number;
  /** The pace: units and time of the groups so far, weighted towards the last ones. */
  #paceUnits: number;
  #paceMs = USUAL_GROUP_MS;
  /** Runs while items wait or are committed. */
  #sweeper: Timer | undefined;
  #group: { members: Member<Item, Outcome>[]; startedAt: number; settled: Promise<void> } | null = null;
  #dueAnswers: (() => void)[] = [];
  #isTickDue = false;
  #refusals = 0;
  #smallAt = -Infinity;

  constructor(options: AdmissionOptions<Item, Outcome>, shardId: number) {
    this.#options = options;
    this.#shardId = shardId;
    this.#clock = options.clock ?? systemClock;
    this.#waiting = new PartnerQueues(options.groupLimit);
    this.#capacity = options.waitingLimit;
    this.#paceUnits = options.groupLimit;
  }

  get state(): 'idle' | 'committing' | 'answering' {
    if (this.#group) return 'committing';
    return this.#isTickDue || this.#dueAnswers.length > 0 ? 'answering' : 'idle';
  }

  get waiting() {
    return this.#waiting.units;
  }

  /**
   * Returns whether a partner may send an item now. If not, the caller must refuse it, and it is counted as
   * refused.
   */
  admits(partner: Partner, units = 1) {
    return this.#hasRoom(partner, units) || this.#refuse();
  }

  /**
   * Resolves to the outcome of the item, in time; never rejects. `since`: when its time began, by the clock
   * of the queue.
   */
  submit(item: Item, partner: Partner, since = this.#clock.now()): Promise<Outcome> {
    const units = this.#options.unitsOf(item);
    if (!this.admits(partner, units)) return Promise.resolve(this.#options.overloaded);
    if (units < LARGE_UNITS) this.#smallAt = this.#clock.now();
    this.#sweeper ??= this.#scheduleSweep();
    return new Promise((answer) => {
      this.#waiting.add(partner, { item, units, since, answer });
      this.#scheduleTick();
    });
  }

  /** Whether small items were submitted within the last second. */
  servesSmallItems() {
    return this.#clock.now() - this.#smallAt < RECENT_MS;
  }

  /**
   * Returns the seconds until all waiting items are committed, at the pace of the last groups. A group in
   * flight counts with its time so far, because it may be stuck.
   */
  secondsToDrain() {
    const { units } = this.#waiting;
    const inFlightMs = this.#group ? this.#clock.now() - this.#group.startedAt : 0;
    return units === 0 ? 0 : (units * (this.#paceMs + inFlightMs)) / (1_000 * this.#paceUnits);
  }

  /** Resolves when every submitted item is answered. */
  async drain() {
    while (this.state !== 'idle') await (this.#group?.settled ?? yieldToEventLoop());
    this.#clock.clearTimeout(this.#sweeper);
    this.#sweeper = undefined;
  }

  /**
   * A full queue admits partners below their fair share. It also admits one item of any size of a partner
   * with nothing queued.
   */
  #hasRoom(partner: Partner, units: number) {
    const capacity = this.#capacity;
    const waiting = this.#waiting.units;
    if (waiting + units <= capacity) return true;
    const own = this.#waiting.unitsOf(partner);
    if (own + units <= this.#waiting.shareOf(partner, capacity))
      return waiting < OVERFULL * this.#options.waitingLimit;
    return own === 0 && waiting < OVERFULL * capacity;
  }

  #refuse(): false {
    this.#refusals += 1;
    if (this.#isTickDue && this.#refusals % REFUSALS_PER_TICK === 0) this.#tick();
    return false;
  }

  /** Delays the tick, so that items that arrive in the same tick of the event loop form one group. */
  #scheduleTick() {
    if (this.#isTickDue) return;
    this.#isTickDue = true;
    setImmediate(() => {
      this.#isTickDue = false;
      this.#tick();
      if (this.#dueAnswers.length > 0) this.#scheduleTick();
    });
  }

  #tick() {
    const count = Math.max(MIN_ANSWERS, Math.ceil(this.#dueAnswers.length * ANSWERED_SHARE));
    for (const answer of this.#dueAnswers.splice(0, count)) answer();
    this.#commitNextGroup();
  }

  #commitNextGroup() {
    const { items, units } = this.#waiting;
    const isSmall = items < this.#dueAnswers.length && units < this.#options.groupLimit;
    if (this.#group || items === 0 || isSmall) return;
    const startedAt = this.#clock.now();
    const members = this.#waiting.takeGroup();
    const group = members.map(({ item }) => item);
    const settled = this.#options
      .commit(group, this.#shardId)
      .then((outcomes) => this.#settle(members, outcomes, this.#clock.now() - startedAt));
    this.#group = { members, startedAt, settled };
  }

  #settle(members: Member<Item, Outcome>[], outcomes: Outcome[], tookMs: number) {
    let committedUnits = 0;
    members.forEach(({ answer, units }, index) => {
      const outcome = outcomes[index]!;
      if (outcome !== this.#options.overloaded) committedUnits += units;
      this.#dueAnswers.push(() => answer(outcome));
    });
    this.#measure(committedUnits, tookMs);
    this.#options.onGroup?.(committedUnits, tookMs);
    this.#group = null;
    this.#commitNextGroup();
    this.#scheduleTick();
  }

  #measure(units: number, tookMs: number) {
    const { groupLimit, waitingLimit, answerWithinMs } = this.#options;
    this.#paceUnits = KEPT * this.#paceUnits + units;
    this.#paceMs = KEPT * this.#paceMs + tookMs;
    this.#lastMs = [...this.#lastMs.slice(1), tookMs];
    // At least one group: otherwise no group would show that commits are fast again.
    const groups = Math.max(1, Math.floor((answerWithinMs * WAITING_SHARE) / Math.min(...this.#lastMs)));
    this.#capacity = Math.min(waitingLimit, groupLimit * groups);
  }

  #scheduleSweep() {
    const sweeper = this.#clock.setTimeout(this.#sweep, SWEEP_INTERVAL_MS);
    sweeper.unref();
    return sweeper;
  }

  readonly #sweep = () => {
    const isBusy = this.state !== 'idle' || this.#waiting.units > 0;
    this.#sweeper = isBusy ? this.#scheduleSweep() : undefined;
    if (isBusy) this.#answerOverdue();
  };

  #answerOverdue() {
    const { answerWithinMs, overloaded, unknown } = this.#options;
    const overdue = this.#clock.now() - Math.max(answerWithinMs - SWEEP_EARLY_MS, answerWithinMs / 2);
    for (const { since, answer } of this.#group?.members ?? []) if (since < overdue) answer(unknown);
    for (const { answer } of this.#waiting.takeOverdue(overdue)) answer(overloaded);
  }
}
