import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadResult } from './load.ts';

/** Limit of the wait for missing answers after the load. */
const LAST_ANSWERS_MS = 10_000;
const CHECK_MS = 1;

const createTimes = () => createHistogram({ highest: 60_000_000, figures: 3 });

const record = (times: RecordableHistogram, ms: number) => times.record(Math.max(1, Math.round(ms * 1000)));

/** Counts the answers of a load that starts now, and records their latencies. */
export class Tally {
  readonly startedAt = performance.now();
  readonly #cpuAtStart = process.cpuUsage();
  readonly #answers: Record<string, number> = {};
  readonly #latencies: RecordableHistogram = createTimes();
  readonly #delays: RecordableHistogram = createTimes();
  #lastAnswerAt = 0;

  add(status: string, sentAt: number): void {
    this.#lastAnswerAt = performance.now();
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    record(this.#latencies, this.#lastAnswerAt - sentAt);
  }

  /** Records how far the generator is behind its schedule. */
  addDelay(ms: number): void {
    record(this.#delays, ms);
  }

  /** Waits for missing answers. Counts those that do not arrive as "none". */
  async waitForLast(missing: () => number): Promise<void> {
    const endsAt = performance.now() + LAST_ANSWERS_MS;
    while (missing() > 0 && performance.now() < endsAt) await delay(CHECK_MS);
    if (missing() > 0) this.#answers['none'] = missing();
  }

  /** Returns the result of a load that was requested for this time. */
  result(seconds: number): LoadResult {
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    const endedAt = Math.max(this.startedAt + seconds * 1000, this.#lastAnswerAt);
    const at = (percentile: number) => this.#latencies.percentile(percentile) / 1000;
    return {
      seconds: (endedAt - this.startedAt) / 1000,
      endedAt: performance.timeOrigin + endedAt,
      answers: this.#answers,
      latencyMs: { p50: at(50), p90: at(90), p99: at(99), max: this.#latencies.max / 1000 },
      cpuMicros: user + system,
      lateMs: this.#delays.percentile(99) / 1000,
    };
  }
}
