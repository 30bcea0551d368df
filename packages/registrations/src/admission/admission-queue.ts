import { setImmediate as nextTick } from 'node:timers/promises';
import type { FailureCode } from '@floodgate/contract';
import type { Call, onRequestHookHandler, Principal } from '@floodgate/http';
import { systemClock, type Clock, type Timer } from '@floodgate/service/clock';

export interface AdmissionOptions<Item, Outcome> {
  /** Units of one group. */
  groupLimit: number;
  /** Units that may wait. Fewer may wait while groups take so long that the last unit could not be answered in time. */
  waitingLimit: number;
  answerWithinMs: number;
  /** Commits a group of one shard. Resolves to one outcome per item, in order and within reasonable time; never rejects. */
  commit: (items: Item[], shardId: number) => Promise<Outcome[]>;
  unitsOf: (item: Item) => number;
  /** Outcome of an item that was refused or waited too long: nothing was committed. */
  overloaded: Outcome;
  /** Outcome of an item whose group is in flight for too long: the group may still commit. */
  unknown: Outcome;
  /** Called when a group has ended: its committed units, and how long it took. */
  onGroup?: ((units: number, tookMs: number) => void) | undefined;
  clock?: Clock | undefined;
}

interface Member<Item, Outcome> extends Waiting {
  item: Item;
  answer: (outcome: Outcome) => void;
}

/** Opens one queue per shard, so that a slow shard delays its own items only. */
export function createAdmission<Item, Outcome>(options: AdmissionOptions<Item, Outcome>) {
  const queues = new Map<number, AdmissionQueue<Item, Outcome>>();
  const queueOf = ({ shardId }: Principal) =>
    queues.getOrInsertComputed(shardId, () => new AdmissionQueue(options, shardId));

  /** Answers with a failure. Retry-After is the time until all waiting items are committed, at the pace of the last groups. */
  const refuse = <Answer>(
    { principal }: { principal: Principal },
    reply: { fail(code: FailureCode, specifics: object): Answer },
    code: FailureCode,
    specifics: { message?: string } = {},
  ) => reply.fail(code, { ...specifics, retryAfterSeconds: queueOf(principal).secondsToDrain() });

  /** Refuses a request before its body is read when the queue is full: reading it would delay admitted callers. */
  const refuseWhenFull: onRequestHookHandler = (request, reply, done) => {
    if (queueOf(request.principal).admits(request.principal)) done();
    else refuse(request, reply, '90');
  };

  return {
    refuse,
    refuseWhenFull,
    /** Resolves to the outcome of the item; never rejects. */
    submit: ({ principal, startedAt }: Call, item: Item) =>
      queueOf(principal).submit(item, principal, startedAt),
    /** Units that wait for a commit now. */
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.waiting, 0),
    /** Whether small items were submitted within the last second. */
    servesSmallItems: () => [...queues.values()].some((queue) => queue.servesSmallItems()),
    /** Resolves when every submitted item is answered. */
    drain: () => Promise.all(Array.from(queues.values(), (queue) => queue.drain())),
  };
}

/**
 * Share of the answer time that an item may wait. A queue longer than a burst needs grants no seat sooner, and it must be drained
 * after the overload: at half the load, in twice this time.
 */
const WAITING_SHARE = 1 / 8;
/**
 * The fastest of this many groups determines how long a group takes. With fewer, a pause of a busy machine would shrink the queue and
 * cause refusals. A refusal costs half of what a registration costs, so the machine would get even busier.
 */
const GROUPS_MEASURED = 4;
/** Each group reduces the weight of the earlier ones by this factor: about the last ten count. */
const KEPT = 0.9;
/** Assumed duration of a full group before one was measured. */
const USUAL_GROUP_MS = 50;
/** Fraction of the due answers per tick of the event loop, so that requests can be read in between. At least MIN_ANSWERS. */
const ANSWERED_SHARE = 1 / 4;
const MIN_ANSWERS = 16;
/**
 * libuv may read tens of thousands of sockets before an immediate runs. A tick also comes after this many refusals, so that
 * refused callers cannot delay the answers of admitted ones.
 */
const REFUSALS_PER_TICK = 64;
/** When full, partners below their fair share are still admitted, until this many times the capacity waits. */
const OVERFULL = 2;
const SWEEP_INTERVAL_MS = 50;
/** An item is overdue this long before its deadline, because the sweep runs late and the answer takes time as well. */
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
 * No timer delays an item: an idle queue commits what arrived in one tick of the event loop. Under load, answering takes as long
 * as committing, and an answered caller soon sends its next item. So the next group leaves when as many items wait as are
 * unanswered: Postgres works on one half while this process answers the other. An earlier group would be smaller, which costs
 * more. After the last answer, Postgres and this process would wait for each other.
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

  /** Returns whether a partner may send an item now. If not, the caller must refuse it, and it is counted as refused. */
  admits(partner: Partner, units = 1) {
    return this.#hasRoom(partner, units) || this.#refuse();
  }

  /** Resolves to the outcome of the item, in time; never rejects. `since`: when its time began, by the clock of the queue. */
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
   * Returns the seconds until all waiting items are committed, at the pace of the last groups. A group in flight counts with its time
   * so far, because it may be stuck.
   */
  secondsToDrain() {
    const { units } = this.#waiting;
    const inFlightMs = this.#group ? this.#clock.now() - this.#group.startedAt : 0;
    return units === 0 ? 0 : (units * (this.#paceMs + inFlightMs)) / (1_000 * this.#paceUnits);
  }

  /** Resolves when every submitted item is answered. */
  async drain() {
    while (this.state !== 'idle') await (this.#group?.settled ?? nextTick());
    this.#clock.clearTimeout(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** A full queue admits partners below their fair share. It also admits one item of any size of a partner with nothing queued. */
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

/** A partner and its weight. Waiting partners share each group by their weights. */
export type Partner = Pick<Principal, 'partnerId' | 'weight'>;

/** An item that waits. `units` is what it costs: its number of seats, or 1. */
interface Waiting {
  units: number;
  since: number;
}

/** The items of one partner, oldest first. The next group closes an empty queue. */
interface Queue<One> extends Partner {
  items: One[];
  units: number;
  /** Units that the partner may still take in this round. A remainder is kept for its next item, which costs more. */
  credit: number;
}

type Stop = 'empty' | 'no-credit' | 'group-full' | 'large';

/** Items of this many units are large: a commit with one takes noticeably longer for all its items. */
export const LARGE_UNITS = 100;

/**
 * One queue per partner. Groups are filled by deficit round robin (Shreedhar and Varghese): in a round each partner may take its
 * share of one group, by weight. With one partner this is first in, first out.
 */
export class PartnerQueues<One extends Waiting> {
  readonly #groupLimit: number;
  readonly #byPartner = new Map<number, Queue<One>>();
  /** The same queues in round-robin order. */
  readonly #ring: Queue<One>[] = [];
  #weights = 0;
  /** Whether the first queue did not fit into the last group. New queues are served after it. Otherwise it could wait forever. */
  #isFirstOwed = false;
  #smallItems = 0;
  items = 0;
  units = 0;

  /** `groupLimit`: units of one group. An item with more of them forms a group by itself. */
  constructor(groupLimit: number) {
    this.#groupLimit = groupLimit;
  }

  add(partner: Partner, one: One) {
    const queue = this.#byPartner.get(partner.partnerId) ?? this.#open(partner);
    this.#weights += partner.weight - queue.weight;
    queue.weight = partner.weight;
    queue.items.push(one);
    this.#count(queue, one, 1);
  }

  unitsOf({ partnerId }: Partner) {
    return this.#byPartner.get(partnerId)?.units ?? 0;
  }

  /** Returns a partner's share of a whole among the partners that wait now. */
  shareOf({ partnerId, weight }: Partner, whole: number) {
    const others = this.#weights - (this.#byPartner.get(partnerId)?.weight ?? 0);
    return (whole * weight) / (others + weight);
  }

  /** Removes and returns the next group. While small items wait, it has one large item at most. */
  takeGroup(): One[] {
    const group = { items: [] as One[], units: 0, largeLeft: this.#smallItems > 0 ? 1 : Infinity };
    const held: Queue<One>[] = [];
    let stop: Stop = 'empty';
    while (this.#ring.length > 0 && group.units < this.#groupLimit) {
      const queue = this.#ring[0]!;
      stop = this.#moveItems(queue, group);
      if (stop === 'group-full') break;
      this.#ring.shift();
      if (stop === 'empty') this.#close(queue);
      if (stop === 'large') held.push(queue);
      if (stop !== 'no-credit') continue;
      queue.credit += this.#creditOf(queue.weight);
      this.#ring.push(queue);
    }
    this.#isFirstOwed = held.length > 0 || stop === 'group-full';
    this.#ring.unshift(...held);
    return group.items;
  }

  /** Removes and returns all items that wait since before this moment. Items are not in this order: some have waited elsewhere before. */
  takeOverdue(before: number): One[] {
    return [...this.#byPartner.values()].flatMap((queue) => {
      const overdue = queue.items.filter(({ since }) => since < before);
      if (overdue.length > 0) queue.items = queue.items.filter(({ since }) => since >= before);
      for (const one of overdue) this.#count(queue, one, -1);
      return overdue;
    });
  }

  /** Moves the first items of a queue into the group. Returns why it stopped. */
  #moveItems(queue: Queue<One>, group: { items: One[]; units: number; largeLeft: number }): Stop {
    let stop: Stop = 'empty';
    let count = 0;
    for (const one of queue.items) {
      const { units } = one;
      const isLarge = units >= LARGE_UNITS;
      if (isLarge && group.largeLeft === 0) stop = 'large';
      else if (units > queue.credit) stop = 'no-credit';
      else if (group.units > 0 && group.units + units > this.#groupLimit) stop = 'group-full';
      if (stop !== 'empty') break;
      if (isLarge) group.largeLeft -= 1;
      queue.credit -= units;
      group.units += units;
      count += 1;
    }
    for (const one of queue.items.splice(0, count)) {
      this.#count(queue, one, -1);
      group.items.push(one);
    }
    return stop;
  }

  #count(queue: Queue<One>, { units }: One, sign: 1 | -1) {
    queue.units += sign * units;
    this.units += sign * units;
    this.items += sign;
    if (units < LARGE_UNITS) this.#smallItems += sign;
  }

  /** A new queue is served first: a partner that wants less than its share is in the next group. */
  #open({ partnerId, weight }: Partner): Queue<One> {
    this.#weights += weight;
    const queue: Queue<One> = { partnerId, weight, items: [], units: 0, credit: this.#creditOf(weight) };
    this.#byPartner.set(partnerId, queue);
    this.#ring.splice(this.#isFirstOwed ? 1 : 0, 0, queue);
    return queue;
  }

  #close({ partnerId, weight }: Queue<One>) {
    this.#weights -= weight;
    this.#byPartner.delete(partnerId);
  }

  /** At least one unit: otherwise a round could serve no partner. */
  #creditOf(weight: number) {
    return Math.max(1, (this.#groupLimit * weight) / this.#weights);
  }
}
