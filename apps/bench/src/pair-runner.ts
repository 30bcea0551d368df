import type { Pair } from './compare.ts';
import { rateOf } from './compare.ts';
import type { Contender } from './contenders/contender.ts';
import { floodgate } from './contenders/floodgate.ts';
import { measure, type Measurement } from './measure.ts';
import type { Pairing } from './plan.ts';
import type { Progress } from './progress.ts';
import { median } from './report/statistics.ts';
import type { Run } from './results.ts';
import type { Servers } from './servers.ts';
import { hotTicket, type Workload } from './workloads.ts';

/** What a run takes beside its load: a database, two processes that start and stop, a warm-up, a drain. */
const OVERHEAD_SECONDS = 6;
const WARM_UP_SECONDS = 2;

/** How long a pairing takes, about. */
export function secondsOfPairing({ pairs, against, seconds }: Pairing): number {
  return pairs * (against ? 2 : 1) * (seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
}

/** Runs contenders in neighbouring pairs and keeps what came of it. */
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

  /** Runs A B B A …: whatever gets faster or slower with time favours neither. */
  async run(pairing: Pairing): Promise<void> {
    const { subject = floodgate, against } = pairing;
    for (let pair = 0; pair < pairing.pairs; pair++) {
      const runOf = (contender: Contender) => this.#runOnce(contender, pairing);
      if (!against) {
        await runOf(subject);
      } else if (pair % 2 === 0) {
        const mine = await runOf(subject);
        this.pairs.push({ floodgate: mine, other: await runOf(against) });
      } else {
        const other = await runOf(against);
        this.pairs.push({ floodgate: await runOf(subject), other });
      }
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

  /** A run that fails is thrown away like one whose books do not balance; the others go on. */
  async #measureOrDiscard(
    measurement: Pick<Measurement, 'contender' | 'workload' | 'seconds' | 'round'>,
  ): Promise<Run> {
    const { contender, workload } = measurement;
    try {
      if (!this.runs.some((run) => run.contender === contender.name)) await this.#startOnce(contender);
      const peak = this.#peakOf(contender);
      if (workload.needsPeak && peak === undefined)
        throw new Error('its rate with one hot ticket is not known');
      const details = { ...measurement, warmUpSeconds: WARM_UP_SECONDS, peak: peak ?? 0 };
      return await measure(this.#servers, details, this.#signal);
    } catch (error) {
      if (this.#signal.aborted) throw this.#signal.reason;
      return discardedRun(measurement, (error as Error).message.split('\n', 1)[0]!);
    }
  }

  /** What is measured is how the processes run from their second start on, when compiled code lies in the cache. */
  async #startOnce(contender: Contender): Promise<void> {
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
