import { setImmediate as nextTick } from 'node:timers/promises';
import type { onRequestHookHandler, Principal } from '@floodgate/http';
import { LARGE_UNITS, PartnerQueues, type Partner, type Waiting } from './partner-queues.ts';

export interface AdmissionLimits {
  /** Units of one group. */
  groupLimit: number;
  /** Units that may wait. Fewer may wait while groups take so long that the last unit could not be answered in time. */
  waitingLimit: number;
  answerWithinMs: number;
}

export interface AdmissionOptions<Item, Outcome> extends AdmissionLimits {
  /** Commits a group of one shard. Resolves to one outcome per item, in order and within reasonable time; never rejects. */
  commit: (items: Item[], shardId: number) => Promise<Outcome[]>;
  unitsOf: (item: Item) => number;
  /** Outcome of an item that was refused or waited too long: nothing was committed. */
  overloaded: Outcome;
  /** Outcome of an item whose group is in flight for too long: nobody knows. */
  unknown: Outcome;
}

interface Member<Item, Outcome> extends Waiting {
  item: Item;
  answer: (outcome: Outcome) => void;
}

type Caller = Pick<Principal, 'shardId' | 'partnerId' | 'weight'>;

export type Admission<Item, Outcome> = ReturnType<typeof createAdmission<Item, Outcome>>;

/** Opens one queue per shard, so that a slow shard delays its own items only. */
export function createAdmission<Item, Outcome>(options: AdmissionOptions<Item, Outcome>) {
  const queues = new Map<number, AdmissionQueue<Item, Outcome>>();
  const queueOf = (shardId: number) => {
    const queue = queues.get(shardId) ?? new AdmissionQueue(options, shardId);
    queues.set(shardId, queue);
    return queue;
  };
  const retryAfterSeconds = ({ shardId }: Pick<Caller, 'shardId'>) => queueOf(shardId).secondsToDrain();

  /** Refuses a request before its body is read when the queue is full: reading it would delay admitted callers. */
  const refuseWhenFull: onRequestHookHandler = ({ principal }, reply, done) => {
    if (queueOf(principal.shardId).admits(principal)) done();
    else reply.fail('90', { retryAfterSeconds: retryAfterSeconds(principal) });
  };

  return {
    refuseWhenFull,
    /** Resolves to the outcome of the item; never rejects. */
    submit: (caller: Caller, item: Item) => queueOf(caller.shardId).submit(item, caller),
    /** Seconds until everything that waits for the same shard will be committed, at the pace of the last groups. */
    retryAfterSeconds,
    /** Whether small items were submitted within the last second. */
    servesSmallItems: () => [...queues.values()].some((queue) => queue.servesSmallItems()),
    /** Resolves when everything that was submitted is answered. */
    drain: async () => void (await Promise.all([...queues.values()].map((queue) => queue.drain()))),
  };
}

/**
 * Share of the answer time that waiting may take. A queue longer than a burst needs gives nobody a seat sooner, and it has to be
 * worked off after the overload: at half the load, in twice this time.
 */
const WAITING_SHARE = 1 / 8;
/**
 * The fastest of this many groups tells how long a group takes. With fewer, hiccups of a busy machine shrink the queue for a
 * moment. A refusal costs half of what a registration costs, so the machine gets even busier.
 */
const GROUPS_MEASURED = 4;
/** Weight of the groups before, per group: about the last ten count. */
const KEPT = 0.9;
/** Assumed duration of a full group before one was measured. */
const USUAL_GROUP_MS = 50;
/** Fraction of the due answers per tick of the event loop, so that requests can be read in between. At least MIN_ANSWERS. */
const ANSWERED_SHARE = 1 / 4;
const MIN_ANSWERS = 16;
/**
 * libuv may read tens of thousands of sockets before an immediate runs. A tick also comes after this many refusals, so that
 * refused callers cannot keep admitted ones from their answers.
 */
const REFUSALS_PER_TICK = 64;
/** When full, partners below their fair share are still admitted, until this many times the capacity waits. */
const OVERFULL = 2;
const SWEEP_INTERVAL_MS = 50;
/** An item is overdue this long before its time: the sweep comes late, and the answer takes time as well. */
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
 * unanswered: Postgres works on one half while this process answers the other. Leaving earlier makes small groups, which cost
 * more. Leaving after the last answer makes the two wait for each other.
 */
export class AdmissionQueue<Item, Outcome> {
  readonly #options: AdmissionOptions<Item, Outcome>;
  readonly #shardId: number;
  readonly #waiting: PartnerQueues<Member<Item, Outcome>>;
  /** How long the last groups took. */
  #lastMs = Array<number>(GROUPS_MEASURED).fill(0);
  /** Units that may wait now. By Little's law, a new item waits for the groups ahead of it. */
  #capacity: number;
  /** The pace: units and time of the groups so far, of which the last count most. */
  #paceUnits: number;
  #paceMs = USUAL_GROUP_MS;
  readonly #sweeper: NodeJS.Timeout;
  #group: { members: Member<Item, Outcome>[]; startedAt: number; settled: Promise<void> } | null = null;
  #dueAnswers: (() => void)[] = [];
  #isTickDue = false;
  #refusals = 0;
  #smallAt = -Infinity;

  constructor(options: AdmissionOptions<Item, Outcome>, shardId: number) {
    this.#options = options;
    this.#shardId = shardId;
    this.#waiting = new PartnerQueues(options.groupLimit);
    this.#capacity = options.waitingLimit;
    this.#paceUnits = options.groupLimit;
    this.#sweeper = setInterval(() => this.#answerOverdue(), SWEEP_INTERVAL_MS).unref();
  }

  get state(): 'idle' | 'committing' | 'answering' {
    if (this.#group) return 'committing';
    return this.#isTickDue || this.#dueAnswers.length > 0 ? 'answering' : 'idle';
  }

  /** Returns whether a partner may send an item now. If not, the caller must refuse it, and it is counted as refused. */
  admits(partner: Partner): boolean {
    return this.#hasRoom(partner, 1) || this.#refuse();
  }

  /** Resolves to the outcome of the item; never rejects. */
  submit(item: Item, partner: Partner): Promise<Outcome> {
    const units = this.#options.unitsOf(item);
    if (!this.#hasRoom(partner, units)) {
      this.#refuse();
      return Promise.resolve(this.#options.overloaded);
    }
    const submittedAt = performance.now();
    if (units < LARGE_UNITS) this.#smallAt = submittedAt;
    return new Promise((answer) => {
      this.#waiting.add(partner, { item, units, submittedAt, answer });
      this.#scheduleTick();
    });
  }

  /** Whether small items were submitted within the last second. */
  servesSmallItems(): boolean {
    return performance.now() - this.#smallAt < RECENT_MS;
  }

  /**
   * Returns the seconds until everything that waits now will be committed, at the pace of the last groups. A group in flight counts
   * with its time so far, because it may be stuck.
   */
  secondsToDrain(): number {
    const { units } = this.#waiting;
    const inFlightMs = this.#group ? performance.now() - this.#group.startedAt : 0;
    return units === 0 ? 0 : (units * (this.#paceMs + inFlightMs)) / (1_000 * this.#paceUnits);
  }

  /** Resolves when everything that was submitted is answered. */
  async drain(): Promise<void> {
    while (this.state !== 'idle') await (this.#group?.settled ?? nextTick());
    clearInterval(this.#sweeper);
  }

  /** When full, partners below their fair share are admitted, and a partner with nothing queued: one item of any size. */
  #hasRoom(partner: Partner, units: number): boolean {
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

  /** Not at once: items that arrive in the same tick of the event loop form one group. */
  #scheduleTick(): void {
    if (this.#isTickDue) return;
    this.#isTickDue = true;
    setImmediate(() => {
      this.#isTickDue = false;
      this.#tick();
      if (this.#dueAnswers.length > 0) this.#scheduleTick();
    });
  }

  #tick(): void {
    const count = Math.max(MIN_ANSWERS, Math.ceil(this.#dueAnswers.length * ANSWERED_SHARE));
    for (const answer of this.#dueAnswers.splice(0, count)) answer();
    this.#commitNextGroup();
  }

  #commitNextGroup(): void {
    const { items, units } = this.#waiting;
    const isSmall = items < this.#dueAnswers.length && units < this.#options.groupLimit;
    if (this.#group || items === 0 || isSmall) return;
    const startedAt = performance.now();
    const members = this.#waiting.takeGroup();
    const settled = this.#options
      .commit(
        members.map(({ item }) => item),
        this.#shardId,
      )
      .then((outcomes) => this.#settle(members, outcomes, performance.now() - startedAt));
    this.#group = { members, startedAt, settled };
  }

  #settle(members: Member<Item, Outcome>[], outcomes: Outcome[], tookMs: number): void {
    let committedUnits = 0;
    members.forEach(({ answer, units }, index) => {
      const outcome = outcomes[index]!;
      if (outcome !== this.#options.overloaded) committedUnits += units;
      this.#dueAnswers.push(() => answer(outcome));
    });
    this.#measure(committedUnits, tookMs);
    this.#group = null;
    this.#commitNextGroup();
    this.#scheduleTick();
  }

  #measure(units: number, tookMs: number): void {
    const { groupLimit, waitingLimit, answerWithinMs } = this.#options;
    this.#paceUnits = KEPT * this.#paceUnits + units;
    this.#paceMs = KEPT * this.#paceMs + tookMs;
    this.#lastMs = [...this.#lastMs.slice(1), tookMs];
    // At least one group: otherwise nobody would notice that commits are fast again.
    const groups = Math.max(1, Math.floor((answerWithinMs * WAITING_SHARE) / Math.min(...this.#lastMs)));
    this.#capacity = Math.min(waitingLimit, groupLimit * groups);
  }

  #answerOverdue(): void {
    const { answerWithinMs, overloaded, unknown } = this.#options;
    const overdue = performance.now() - Math.max(answerWithinMs - SWEEP_EARLY_MS, answerWithinMs / 2);
    for (const { submittedAt, answer } of this.#group?.members ?? [])
      if (submittedAt < overdue) answer(unknown);
    for (const { answer } of this.#waiting.takeOverdue(overdue)) answer(overloaded);
  }
}
