import type { Contender } from '../contenders/contender.ts';
import { attempt, type Bench } from '../mode.ts';
import { median } from '../report/statistics.ts';
import { open, type Opened, type Run } from './measure.ts';
import type { Entry, Pair, Pairing } from './pairing.ts';
import { hotTicket, needsPeak } from './workloads.ts';

/** Time of a run without its load: a database, two processes that start and stop, a warm-up, a drain. */
const OVERHEAD_SECONDS = 6;
const WARM_UP_SECONDS = 2;
/** Longer, because a side stays open for many measurements. */
const SIDE_WARM_UP_SECONDS = 4;
/** Time of a run without its load if the processes already run. */
const TURN_OVERHEAD_SECONDS = 1;

/** Returns the approximate duration of a pairing. */
export function secondsOfPairing({ pairs, other, seconds, isSideBySide }: Pairing): number {
  if (isSideBySide)
    return 2 * (SIDE_WARM_UP_SECONDS + OVERHEAD_SECONDS + pairs * (seconds + TURN_OVERHEAD_SECONDS));
  return pairs * (other ? 2 : 1) * (seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
}

/**
 * Runs contenders in neighbouring pairs, in the order A B B A …: a change of speed over time favours neither.
 */
export class PairRunner {
  readonly #bench: Bench;
  readonly #record: (pairing: Pairing, pair: Pair) => void;
  /** Contenders that have started once. */
  readonly #started = new Set<string>();
  /** Rates with one hot ticket, by contender. */
  readonly #peaks = new Map<string, number[]>();

  /** `record` is called after each pair. */
  constructor(bench: Bench, record: (pairing: Pairing, pair: Pair) => void) {
    this.#bench = bench;
    this.#record = record;
  }

  async run(pairing: Pairing): Promise<void> {
    if (pairing.isSideBySide) return this.#runSideBySide(pairing);
    const { mine, other, seconds } = pairing;
    return this.#runPairs(
      pairing,
      () => this.#runOnce(mine, seconds),
      async () => other && this.#runOnce(other, seconds),
    );
  }

  /** Starts both, and then measures them in turn. */
  async #runSideBySide(pairing: Pairing): Promise<void> {
    const { title, mine, other, seconds } = pairing;
    if (!other) throw new Error('a single contender has no side');
    await attempt(this.#bench, `${title}: ${mine.row} and ${other.row} start`, async () => {
      for (const { contender } of [mine, other]) await this.#startFirst(contender);
      await this.#bench.servers.emptyRedis();
      const openSide = ({ contender, workload }: Entry, redisDatabase: number) =>
        open(this.#bench, {
          contender,
          workload,
          seconds,
          redisDatabase,
          warmUpSeconds: SIDE_WARM_UP_SECONDS,
          peak: 0,
        });
      await using left = await openSide(mine, 1);
      await using right = await openSide(other, 2);
      this.#bench.progress.add(2 * (SIDE_WARM_UP_SECONDS + OVERHEAD_SECONDS));
      const turn =
        ({ row }: Entry, side: Opened) =>
        async () => {
          const run = await attempt(this.#bench, `${title}: ${row}`, () => side.measure());
          this.#bench.progress.add(seconds + TURN_OVERHEAD_SECONDS);
          return run;
        };
      await this.#runPairs(pairing, turn(mine, left), turn(other, right));
    });
  }

  async #runPairs(
    pairing: Pairing,
    runMine: () => Promise<Run | undefined>,
    runOther: () => Promise<Run | undefined>,
  ): Promise<void> {
    for (let pair = 0; pair < pairing.pairs; pair += 1) {
      if (pair % 2 === 0) {
        const mine = await runMine();
        this.#record(pairing, { mine, other: await runOther() });
      } else {
        const other = await runOther();
        this.#record(pairing, { mine: await runMine(), other });
      }
    }
  }

  /** Starts a contender, measures it and stops it. */
  async #runOnce({ row, contender, workload }: Entry, seconds: number): Promise<Run | undefined> {
    const hot = hotTicket(128);
    const peaks = this.#peaksOf(contender);
    if (needsPeak(workload) && peaks.length === 0)
      await this.#runOnce({ row, contender, workload: hot }, seconds);
    const run = await attempt(this.#bench, `${row}, ${workload.name}`, async () => {
      await this.#startFirst(contender);
      if (needsPeak(workload) && peaks.length === 0)
        throw new Error('its rate with one hot ticket is not known');
      const peak = peaks.length > 0 ? median(peaks) : 0;
      await this.#bench.servers.emptyRedis();
      const opening = { contender, workload, seconds, warmUpSeconds: WARM_UP_SECONDS, peak };
      await using opened = await open(this.#bench, opening);
      return await opened.measure();
    });
    if (run && workload.name === hot.name) peaks.push(run.perSecond);
    this.#bench.progress.add(seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
    return run;
  }

  #peaksOf({ name }: Contender): number[] {
    const known = this.#peaks.get(name) ?? [];
    this.#peaks.set(name, known);
    return known;
  }

  /** Starts a contender once before the measurements, so that the cache has its compiled code. */
  async #startFirst(contender: Contender): Promise<void> {
    if (this.#started.has(contender.name)) return;
    const { template } = contender;
    await using database = await this.#bench.servers.openDatabase(template && { template });
    const { url: databaseUrl, db } = database;
    const running = await contender.start({ databaseUrl, redisUrl: this.#bench.servers.redisUrl, db });
    await running.stop();
    this.#started.add(contender.name);
  }
}
