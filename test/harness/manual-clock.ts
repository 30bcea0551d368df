import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock } from '@floodgate/service/clock';

/** Turns of the event loop in which the work that a timer has started goes on as far as it can without another timer. */
const TURNS = 3;

class ManualTimer {
  readonly at: number;
  readonly fire: () => void;

  constructor(at: number, fire: () => void) {
    this.at = at;
    this.fire = fire;
  }

  unref(): this {
    return this;
  }
}

/** Not 0, which caches take for "no time". */
const STARTS_AT_MS = 1_000_000;

/** A clock that stands still until the test advances it. */
export class ManualClock implements Clock {
  /** In the order in which they were set. */
  readonly #timers = new Set<ManualTimer>();
  #now = STARTS_AT_MS;

  /** Number of timers that have neither fired nor been cleared. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): ManualTimer {
    // As in Node.js, a timer takes at least a millisecond.
    const timer = new ManualTimer(this.#now + Math.max(1, ms), callback);
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(timer: object | undefined): void {
    this.#timers.delete(timer as ManualTimer);
  }

  /** Lets the time pass. Fires each due timer at its time, in order, and lets its work go on before the next. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let at = this.#nextAt(); at <= until; at = this.#nextAt()) {
      this.#now = Math.max(this.#now, at);
      for (const timer of [...this.#timers].filter((one) => one.at === at)) {
        this.#fire(timer);
        await yieldToEventLoop();
      }
      await settle();
    }
    this.#now = until;
  }

  /** Lets the time pass as if the event loop was blocked: due timers fire late, one after the other, and nothing else runs. */
  block(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now);
    for (const timer of due.toSorted((a, b) => a.at - b.at)) this.#fire(timer);
  }

  /** Advances from timer to timer until none is left. */
  async runAll(): Promise<void> {
    await settle();
    while (this.#timers.size > 0) await this.advance(Math.max(0, this.#nextAt() - this.#now));
  }

  #nextAt(): number {
    let next = Infinity;
    for (const { at } of this.#timers) next = Math.min(next, at);
    return next;
  }

  /** Does nothing if the timer was cleared meanwhile. */
  #fire(timer: ManualTimer): void {
    if (this.#timers.delete(timer)) timer.fire();
  }
}

/** Resolves when everything has run that needs no timer, no file and no network. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await yieldToEventLoop();
}
