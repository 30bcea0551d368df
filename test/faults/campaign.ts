import { rm } from 'node:fs/promises';
import { deploy, type Deployment, type DeploymentKind } from './deployment.ts';
import { deploymentsOf, type Fault } from './fault.ts';
import { FAULTS } from './faults.ts';
import { Random } from './random.ts';
import { missedOf, sumReached, type Missed, type Reached } from './reached.ts';
import { runRound, type Round, type RoundOptions, type RoundResult } from './run-round.ts';

export interface CampaignOptions extends RoundOptions {
  seed: number;
  /** By default each fault strikes in one round. */
  rounds?: number;
  /**
   * At most this many rounds more, each with a fault of which a listed pair was not met (reached.ts). Pairs
   * that are still missed then are a failure. By default pairs are only counted.
   */
  extraRounds?: number | undefined;
  /** On a Citus cluster, in place of one Postgres. */
  isOnCitus?: boolean;
  /** Runs only this round of the campaign: a replay. */
  onlyRound?: number | undefined;
  /** Strikes with nothing but faults whose name contains this. */
  onlyFault?: string | undefined;
  /** How long a fault lasts: any time in this range, in milliseconds. */
  hold: { from: number; to: number };
  /** Whether to try what takes long as well: freezes beyond the queue's locks, faults with servers of their own. */
  isLong: boolean;
  /** Told of every round when it has ended, and whether it was one more, for pairs that were missed. */
  onRound: (round: number, result: RoundResult, isExtra: boolean) => void;
  /** Told of every fault that cannot be tried on this machine. */
  onMissing: (fault: Fault, reason: string) => void;
  /** Begins no further round. */
  signal?: AbortSignal;
}

/** One round in three strikes twice at once. */
const MIXED_PERCENT = 33;
/** Longer than a job's lock (15 s, packages/queue). */
const LONG_HOLD_MS = { from: 16_000, to: 18_000 };
const LONG_PERCENT = 25;
/** A fresh deployment now and then: the books are read whole after every round. */
const ROUNDS_PER_DEPLOYMENT = 40;

export interface CampaignResult {
  results: RoundResult[];
  /** How often each listed pair was met. */
  reached: Reached;
  /** The listed pairs that had to be met, and were not. */
  missed: Missed[];
}

/** Runs rounds of faults, every kind in turn, alone and mixed, and answers what came of each. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const available = availableFaults(options);
  if (available.length === 0) throw new Error('no such fault, or none that this machine can try');
  const { rounds = available.length } = options;
  const results: RoundResult[] = [];
  const reached = () => sumReached(results.map((result) => result.reached));
  const missed = () => (options.extraRounds === undefined ? [] : missedOf(available, reached()));
  await using deployments = new Deployments();
  for (let round = 1; round <= rounds + (options.extraRounds ?? 0); round += 1) {
    if (options.signal?.aborted) break;
    if (options.onlyRound !== undefined && options.onlyRound !== round) continue;
    const isExtra = round > rounds;
    const wanted = isExtra ? ofMissed(available, missed(), round) : available;
    if (wanted.length === 0) break;
    const drawn = draw(wanted, options, round);
    const deployment = await deployments.take(kindOf(drawn.faults[0]!, options));
    const result = await runRound(deployment, drawn, options).catch((error: Error) =>
      brokenRound(drawn, error),
    );
    results.push(result);
    options.onRound(round, result, isExtra);
    await forgetFile(result, options);
    const leavesRemains = drawn.faults.some((fault) => fault.leavesRemains);
    if (result.violations.length > 0 || leavesRemains) await deployments.discard();
  }
  return { results, reached: reached(), missed: missed() };
}

/** One of the faults of which a pair was missed, in turn. */
function ofMissed(available: readonly Fault[], missed: readonly Missed[], round: number): Fault[] {
  const faults = available.filter(({ name }) => missed.some(({ fault }) => fault === name));
  return faults.length === 0 ? [] : [faults[round % faults.length]!];
}

/** The file of a round is kept if somebody asked for it, or if the round has failed. */
export async function forgetFile(
  { file, violations }: Pick<RoundResult, 'file' | 'violations'>,
  { directory }: RoundOptions,
): Promise<void> {
  if (file !== '' && violations.length === 0 && directory === undefined) await rm(file);
}

/** Hands out one deployment at a time, the same again while it is fit for it. */
class Deployments implements AsyncDisposable {
  #deployment: Deployment | null = null;
  #kind: DeploymentKind = 'redis';
  #rounds = 0;

  async take(kind: DeploymentKind): Promise<Deployment> {
    // A cluster that has lost a node is not what the next round expects.
    const isWorn = this.#rounds === ROUNDS_PER_DEPLOYMENT || this.#kind !== kind || kind === 'redis-cluster';
    if (isWorn) await this.discard();
    this.#kind = kind;
    this.#rounds += 1;
    return (this.#deployment ??= await deploy(kind));
  }

  async discard(): Promise<void> {
    await this.#deployment?.[Symbol.asyncDispose]();
    this.#deployment = null;
    this.#rounds = 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }
}

type Where = Pick<CampaignOptions, 'isOnCitus'>;

/** The first of the deployments that it breaks which this campaign has; undefined where it has none. */
const kindIn = (fault: Fault, { isOnCitus = false }: Where) =>
  deploymentsOf(fault).find((kind) => (kind === 'citus') === isOnCitus);

const kindOf = (fault: Fault, where: Where): DeploymentKind => kindIn(fault, where)!;

/** The faults that were asked for and that this machine can try. */
export function availableFaults(
  options: Pick<CampaignOptions, 'onlyFault' | 'isLong' | 'isOnCitus' | 'onMissing'>,
): Fault[] {
  const { onlyFault = '', isLong, onMissing } = options;
  const wanted = FAULTS.filter(
    (fault) =>
      fault.name.includes(onlyFault) && (isLong || !fault.isLongOnly) && kindIn(fault, options) !== undefined,
  );
  return wanted.filter((fault) => {
    const reason = fault.missing?.() ?? null;
    if (reason !== null) onMissing(fault, reason);
    return reason === null;
  });
}

/** A round follows from the campaign's seed and its own number alone, so that it can be run again by itself. */
function draw(available: readonly Fault[], options: CampaignOptions, round: number): Round {
  const { seed, hold, isLong } = options;
  const order = new Random(seed).shuffle(available);
  const first = order[(round - 1) % order.length]!;
  const random = new Random((seed ^ Math.imul(round, 0x9e3779b1)) | 0);
  const outlastsLocks = isLong && first.outlastsLocks === true && random.chance(LONG_PERCENT);
  const { from, to } = outlastsLocks ? LONG_HOLD_MS : hold;
  const others = available.filter((other) => canMix(first, other, options));
  const isMixed = others.length > 0 && random.chance(MIXED_PERCENT);
  return {
    seed: random.seed(),
    holdMs: random.between(from, to),
    faults: isMixed ? [first, random.pick(others)] : [first],
  };
}

const canMix = (one: Fault, other: Fault, where: Where) =>
  one.part !== other.part &&
  one.mayFail !== false &&
  other.mayFail !== false &&
  kindOf(one, where) === kindOf(other, where);

/** A round that could not be judged is a failed one. */
function brokenRound(round: Round, error: Error): RoundResult {
  return {
    ...round,
    requests: 0,
    granted: 0,
    ends: {},
    uses: {},
    servingAfterMs: Number.NaN,
    finalizedAfterMs: Number.NaN,
    longestStopMs: 0,
    excused: 0,
    reached: {},
    file: '',
    isDecided: false,
    warnings: {},
    violations: [{ kind: 'stuck', problem: error.stack ?? error.message }],
  };
}
