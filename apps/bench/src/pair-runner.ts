import type { Pair } from './compare.ts';
import { rateOf } from './compare.ts';
import type { Contender } from './contenders/contender.ts';
import { floodgate } from './contenders/floodgate.ts';
import { measure, open, type Measurement, type Opened } from './measure.ts';
import type { Pairing } from './plan.ts';
import type { Progress } from './progress.ts';
import { median } from './report/statistics.ts';
import type { Run } from './results.ts';
import type { Servers } from './servers.ts';
import { hotTicket, type Workload } from './workloads.ts';

/** Time of a run without its load: a database, two processes that start and stop, a warm-up, a drain. */
const OVERHEAD_SECONDS = 6;
const WARM_UP_SECONDS = 2;
/** Longer, because a side stays open for many measurements. */
const SIDE_WARM_UP_SECONDS = 4;
/** Time of a run without its load if the processes already run. */
const TURN_OVERHEAD_SECONDS = 1;

/** Returns the approximate duration of a pairing. */
export function secondsOfPairing({ pairs, against, seconds, isSideBySide }: Pairing): number {
  if (isSideBySide)
    return 2 * (SIDE_WARM_UP_SECONDS + OVERHEAD_SECONDS + pairs * (seconds + TURN_OVERHEAD_SECONDS));
  return pairs * (against ? 2 : 1) * (seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
}

/** Runs contenders in neighbouring pairs and keeps the results. */
export class PairRunner {
  readonly runs: Run[] = [];
  readonly pairs: Pair[] = [];
  readonly #servers: Servers;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;

  constructor(servers: Servers, progress: Progress, signal: AbortSignal) {
    this.#servers = servers;
    this.#progress = progress;
    this.#signal = signal;
  }

  /** Runs A B B A …, so that a change of speed over time favours neither. */
  async run(pairing: Pairing): Promise<void> {
    const { subject = floodgate, against, isSideBySide } = pairing;
    if (isSideBySide && against) return this.#runSideBySide(subject, against, pairing);
    const runOf = (contender: Contender) => () => this.#runOnce(contender, pairing);
    for (let pair = 0; pair < pairing.pairs; pair++)
      if (against) await this.#runPair(pair, runOf(subject), runOf(against));
      else await runOf(subject)();
  }

  async #runPair(pair: number, runMine: () => Promise<Run>, runOther: () => Promise<Run>): Promise<void> {
    const first = pair % 2 === 0 ? await runMine() : undefined;
    const other = await runOther();
    this.pairs.push({ floodgate: first ?? (await runMine()), other });
  }

  /** Starts both, then alternates the load between them. */
  async #runSideBySide(subject: Contender, against: Contender, pairing: Pairing): Promise<void> {
    const { workload, seconds, pairs } = pairing;
    const say = (doing: string) => this.#progress.say(`${workload.name}: ${doing}`);
    say(`${subject.name} and ${against.name} start`);
    for (const contender of [subject, against]) await this.#startFirst(contender);
    await this.#servers.emptyRedis();
    const details = { workload, seconds, warmUpSeconds: SIDE_WARM_UP_SECONDS, peak: 0 };
    const openSide = (contender: Contender, redisDatabase: number) =>
      open(this.#servers, { ...details, contender, redisDatabase }, this.#signal);
    await using mine = await openSide(subject, 1);
    await using other = await openSide(against, 2);
    this.#progress.add(2 * (SIDE_WARM_UP_SECONDS + OVERHEAD_SECONDS));
    for (let pair = 0; pair < pairs; pair++) {
      say(`pair ${pair + 1} of ${pairs}`);
      const runOf = (side: Opened, contender: Contender) => async () => {
        const run = await this.#orDiscarded({ ...details, contender, round: pair + 1 }, (round) =>
          side.measure(round),
        );
        this.runs.push(run);
        return run;
      };
      await this.#runPair(pair, runOf(mine, subject), runOf(other, against));
      this.#progress.add(2 * (seconds + TURN_OVERHEAD_SECONDS));
    }
  }

  async #runOnce(
    contender: Contender,
    { workload, seconds }: Pick<Pairing, 'workload' | 'seconds'>,
  ): Promise<Run> {
    if (workload.needsPeak && this.#peakOf(contender) === undefined)
      await this.#runOnce(contender, { workload: hotTicket(128), seconds });
    this.#progress.say(`${contender.name}, ${workload.name}, ${workload.connections} connections`);
    const round = this.runs.filter((one) => isSame(one, contender, workload)).length + 1;
    const run = await this.#measureOrDiscard({ contender, workload, seconds, round });
    this.runs.push(run);
    this.#progress.add(seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
    return run;
  }

  #measureOrDiscard(
    measurement: Pick<Measurement, 'contender' | 'workload' | 'seconds' | 'round'>,
  ): Promise<Run> {
    const { contender, workload } = measurement;
    return this.#orDiscarded(measurement, async () => {
      await this.#startFirst(contender);
      const peak = this.#peakOf(contender);
      if (workload.needsPeak && peak === undefined)
        throw new Error('its rate with one hot ticket is not known');
      const details = { ...measurement, warmUpSeconds: WARM_UP_SECONDS, peak: peak ?? 0 };
      return await measure(this.#servers, details, this.#signal);
    });
  }

  /** Discards a failed run like one whose books do not balance, and continues with the others. */
  async #orDiscarded(
    measurement: Pick<Measurement, 'contender' | 'workload' | 'round'>,
    run: (round: number) => Promise<Run>,
  ): Promise<Run> {
    try {
      return await run(measurement.round);
    } catch (error) {
      if (this.#signal.aborted) throw this.#signal.reason;
      return discardedRun(measurement, (error as Error).message.split('\n', 1)[0]!);
    }
  }

  /** Starts a contender once before the measurements, so that the cache has its compiled code. */
  async #startFirst(contender: Contender): Promise<void> {
    if (this.runs.some((run) => run.contender === contender.name)) return;
    const { template } = contender;
    await using database = await this.#servers.openDatabase(template && { template });
    const { url: databaseUrl, db } = database;
    const running = await contender.start({ databaseUrl, redisUrl: this.#servers.redisUrl, db });
    await running.stop();
  }

  #peakOf(contender: Contender): number | undefined {
    const same = this.runs.filter((run) => isSame(run, contender, hotTicket(128)) && !run.discarded);
    return same.length > 0 ? median(same.map(rateOf)) : undefined;
  }
}

function isSame(run: Run, contender: Contender, workload: Workload): boolean {
  return (
    run.contender === contender.name &&
    run.workload === workload.name &&
    run.connections === workload.connections
  );
}

function discardedRun(
  { contender, workload, round }: Pick<Measurement, 'contender' | 'workload' | 'round'>,
  reason: string,
): Run {
  return {
    contender: contender.name,
    workload: workload.name,
    connections: workload.connections,
    round,
    discarded: reason,
    seconds: 0,
    accepted: 0,
    refused: {},
    acceptedPerSecond: 0,
    latencyMs: { p50: 0, p90: 0, p99: 0, max: 0 },
  };
}
