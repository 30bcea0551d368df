import { deploy, type Deployment } from './deployment.ts';
import { FAULTS, type Fault } from './faults.ts';
import { Random } from './random.ts';
import { runRound, type Round, type RoundResult } from './run-round.ts';

export interface CampaignOptions {
  seed: number;
  rounds: number;
  /** Runs only this round of the campaign: a replay. */
  onlyRound?: number | undefined;
  /** Strikes with nothing but faults whose name contains this. */
  onlyFault?: string | undefined;
  /** How long a fault lasts: any time in this range, in milliseconds. */
  hold: { from: number; to: number };
  /** Whether some of the faults that can are to last longer than the queue's locks. */
  outlastLocks: boolean;
  /** Told of every round when it has ended. */
  onRound: (round: number, result: RoundResult) => void;
  /** Told of every fault that cannot be tried on this machine. */
  onMissing: (fault: Fault, reason: string) => void;
}

/** One round in three strikes twice at once. */
const MIXED_PERCENT = 33;
/** Longer than a job's lock (15 s, packages/queue). */
const LONG_HOLD_MS = { from: 16_000, to: 18_000 };
const LONG_PERCENT = 25;
/** A fresh deployment now and then: the books are read whole after every round. */
const ROUNDS_PER_DEPLOYMENT = 40;

/** Runs rounds of faults, every kind in turn and then mixed, and answers what came of each. */
export async function runCampaign(options: CampaignOptions): Promise<RoundResult[]> {
  const results: RoundResult[] = [];
  let deployment: Deployment | null = null;
  let age = 0;
  try {
    for (let round = 1; round <= options.rounds; round += 1) {
      if (options.onlyRound !== undefined && options.onlyRound !== round) continue;
      deployment ??= await deploy();
      const available = availableFaults(deployment, options, results.length === 0);
      const drawn = draw(available, options, round);
      const result = await runRound(deployment, drawn).catch((error: Error) => brokenRound(drawn, error));
      results.push(result);
      options.onRound(round, result);
      age += 1;
      if (result.violations.length > 0 || age === ROUNDS_PER_DEPLOYMENT) {
        await deployment[Symbol.asyncDispose]();
        deployment = null;
        age = 0;
      }
    }
  } finally {
    await deployment?.[Symbol.asyncDispose]();
  }
  return results;
}

function availableFaults(deployment: Deployment, options: CampaignOptions, tell: boolean): Fault[] {
  return FAULTS.filter((fault) => {
    if (options.onlyFault !== undefined && !fault.name.includes(options.onlyFault)) return false;
    const reason = fault.missing?.(deployment) ?? null;
    if (reason !== null && tell) options.onMissing(fault, reason);
    return reason === null;
  });
}

/** A round that could not be judged is a failed one. */
function brokenRound(round: Round, error: Error): RoundResult {
  const violations: RoundResult['violations'] = [{ kind: 'stuck', problem: error.stack ?? error.message }];
  return {
    ...round,
    requests: 0,
    granted: 0,
    ends: {},
    servingAfterMs: Number.NaN,
    finalizedAfterMs: Number.NaN,
    violations,
  };
}

/** A round follows from the campaign's seed and its own number alone, so that it can be run again by itself. */
function draw(
  available: readonly Fault[],
  { seed, hold, outlastLocks }: CampaignOptions,
  round: number,
): Round {
  const order = new Random(seed).shuffle(available);
  const first = order[(round - 1) % order.length];
  if (!first) throw new Error('no such fault');
  const random = new Random((seed ^ Math.imul(round, 0x9e3779b1)) | 0);
  const others = available.filter(({ part }) => part !== first.part);
  const isMixed = others.length > 0 && first.mayFail !== false && random.chance(MIXED_PERCENT);
  const isLong = outlastLocks && first.outlastsLocks === true && random.chance(LONG_PERCENT);
  const second = isMixed ? random.pick(others) : undefined;
  return {
    seed: random.seed(),
    holdMs: isLong ? random.between(LONG_HOLD_MS.from, LONG_HOLD_MS.to) : random.between(hold.from, hold.to),
    faults: second && second.mayFail !== false ? [first, second] : [first],
  };
}
