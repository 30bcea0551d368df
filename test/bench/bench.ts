// npm run bench: Floodgate against what a team would otherwise build, and against ceilings, side by side on this
// machine. Runs neighbour each other in pairs (A B B A …), each on a fresh database and after a warm-up, and count only
// if their books balance. What is compared are ratios within pairs: a single figure mostly tells how busy the machine was.
import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type as system } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compare, rateOf, type Pair } from './compare.ts';
import type { Contender } from './contenders/contender.ts';
import { floodgate } from './contenders/floodgate.ts';
import { measure, type Measurement } from './measure.ts';
import { outages, outageSeconds, type OutageOptions } from './outages.ts';
import { OVERLOAD_SECONDS, overloads } from './overload.ts';
import { allContenders, fullPlan, growthPlan, quickPlan, type Pairing } from './plan.ts';
import { Progress } from './progress.ts';
import { median } from './report/statistics.ts';
import { renderTable } from './report/table.ts';
import { writeResults } from './report/write-results.ts';
import type { BenchResults, Run } from './results.ts';
import { startServers, type Servers } from './servers.ts';
import { soak, SOAK_SECONDS } from './soak.ts';
import { judgeTargets } from './targets.ts';
import { hotTicket, type Workload } from './workloads.ts';

const USAGE = `npm run bench [-- options]

  --quick             one pair each on one hot ticket; under 90 s
  --growth            10 million registrations stored, 1,000 events stored
  --soak              ten minutes of steady load, memory of every process
  --overload          three times of what the service can do; under 2 min
  --outages           Redis and Postgres crash under load and come back; under 4 min
    --redis-seconds <n>     how long Redis stays away (default: 60)
    --postgres-seconds <n>  how long Postgres stays away (default: 10)
    --rate <n>              registrations per second meanwhile (default: 5000)
  --against <names>   only these: ${allContenders.map(({ name }) => `"${name}"`).join(', ')}
  --workload <names>  only these, e.g. "hot ticket,mix"
  --pairs <n>         pairs of runs of each comparison
  --seconds <n>       length of each run
  --out <directory>   where results go (default: bench-results)
`;

/** What a run takes beside its load: a database, two processes that start and stop, a warm-up, a drain. */
const OVERHEAD_SECONDS = 6;
const WARM_UP_SECONDS = 2;
/** Measurements that take a run of their own. */
const ALONE = ['soak', 'overload', 'outages'] as const;
const RESULTS = path.resolve(import.meta.dirname, '../../bench-results');

const startedAt = new Date().toISOString();
const options = readOptions();
const outageOptions: OutageOptions = {
  redisSeconds: options.redisSeconds ?? 60,
  postgresSeconds: options.postgresSeconds ?? 10,
  perSecond: options.rate ?? 5_000,
};
const alone = ALONE.find((name) => options[name]);
const pairings = alone ? [] : choosePairings();
const progress = new Progress(expectedSeconds());
const pairs: Pair[] = [];
const runs: Run[] = [];
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

try {
  await using servers = await startServers();
  for (const pairing of pairings) await runPairing(servers, pairing);
  const measuredAlone = await measureAlone(servers);
  progress.end();
  const results = summarize(servers, measuredAlone);
  process.stdout.write(`${renderTable(results)}\n`);
  const written = await writeResults(options.out, results);
  process.stdout.write(`\n${path.relative('.', written.html)} and ${path.relative('.', written.json)}\n`);
} catch (error) {
  progress.end();
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = stop.signal.aborted ? 130 : 1;
}
process.exit();

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        growth: { type: 'boolean', default: false },
        soak: { type: 'boolean', default: false },
        overload: { type: 'boolean', default: false },
        outages: { type: 'boolean', default: false },
        'redis-seconds': { type: 'string' },
        'postgres-seconds': { type: 'string' },
        rate: { type: 'string' },
        against: { type: 'string' },
        workload: { type: 'string' },
        pairs: { type: 'string' },
        seconds: { type: 'string' },
        out: { type: 'string', default: RESULTS },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      return process.exit(0);
    }
    refuseCombination(values);
    return {
      ...values,
      against: values.against?.split(','),
      workload: values.workload?.split(','),
      pairs: positive('pairs', values.pairs),
      seconds: positive('seconds', values.seconds),
      redisSeconds: positive('redis-seconds', values['redis-seconds']),
      postgresSeconds: positive('postgres-seconds', values['postgres-seconds']),
      rate: positive('rate', values.rate),
    };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return process.exit(2);
  }
}

/** The kinds of measurement exclude each other; only some have something to choose. */
function refuseCombination(values: Record<string, unknown>): void {
  const chosen = ALONE.find((name) => values[name]);
  const others = [...ALONE, 'quick', 'growth', 'against', 'workload', 'pairs', 'seconds'];
  if (chosen && others.some((name) => name !== chosen && values[name]))
    throw new Error(`--${chosen} goes alone`);
  if (values['quick'] && values['growth']) throw new Error('either --quick or --growth');
  const ofOutages = ['redis-seconds', 'postgres-seconds', 'rate'].find((name) => values[name]);
  if (ofOutages && !values['outages']) throw new Error(`--${ofOutages} goes with --outages`);
}

function expectedSeconds(): number {
  if (alone === 'soak') return SOAK_SECONDS;
  if (alone === 'overload') return OVERLOAD_SECONDS;
  if (alone === 'outages') return outageSeconds(outageOptions);
  return pairings.reduce((sum, pairing) => sum + secondsOf(pairing), 0);
}

async function measureAlone(on: Servers): Promise<Pick<BenchResults, 'soak' | 'overloads' | 'outages'>> {
  if (alone === 'soak') return { soak: await soak(on, progress, stop.signal) };
  if (alone === 'overload') return { overloads: await overloads(on, progress, stop.signal) };
  if (alone === 'outages') return { outages: await outages(on, outageOptions, progress, stop.signal) };
  return {};
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} takes a whole number from 1, not ${text}`);
  return value;
}

function choosePairings(): Pairing[] {
  const plan = options.quick ? quickPlan() : options.growth ? growthPlan() : fullPlan();
  const chosen = plan.filter(
    ({ against, workload }) =>
      (!options.against || options.against.includes(against?.name ?? floodgate.name)) &&
      (!options.workload || options.workload.includes(workload.name)),
  );
  if (chosen.length === 0) {
    process.stderr.write(`nothing of the plan matches these options\n\n${USAGE}`);
    process.exit(2);
  }
  return chosen.map((pairing) => ({
    ...pairing,
    pairs: options.pairs ?? pairing.pairs,
    seconds: options.seconds ?? pairing.seconds,
  }));
}

function secondsOf({ pairs: count, against, seconds }: Pairing): number {
  return count * (against ? 2 : 1) * (seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
}

/** Runs A B B A …: whatever gets faster or slower with time favours neither. */
async function runPairing(on: Servers, pairing: Pairing): Promise<void> {
  for (let pair = 0; pair < pairing.pairs; pair++) {
    const runOf = (contender: Contender) => runOnce(on, contender, pairing);
    if (!pairing.against) {
      await runOf(floodgate);
    } else if (pair % 2 === 0) {
      const mine = await runOf(floodgate);
      pairs.push({ floodgate: mine, other: await runOf(pairing.against) });
    } else {
      const other = await runOf(pairing.against);
      pairs.push({ floodgate: await runOf(floodgate), other });
    }
  }
}

async function runOnce(
  on: Servers,
  contender: Contender,
  { workload, seconds }: Pick<Pairing, 'workload' | 'seconds'>,
): Promise<Run> {
  if (workload.needsPeak && peakOf(contender) === undefined)
    await runOnce(on, contender, { workload: hotTicket(128), seconds });
  progress.say(`${contender.name}, ${workload.name}, ${workload.connections} connections`);
  const earlier = runs.filter((one) => isSame(one, contender, workload));
  const round = earlier.length + 1;
  const run = await measureOrDiscard(on, { contender, workload, seconds, round });
  runs.push(run);
  progress.add(seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);
  return run;
}

/** A run that fails is thrown away like one whose books do not balance; the others go on. */
async function measureOrDiscard(
  on: Servers,
  measurement: Pick<Measurement, 'contender' | 'workload' | 'seconds' | 'round'>,
): Promise<Run> {
  const { contender, workload, round } = measurement;
  try {
    if (!runs.some((run) => run.contender === contender.name)) await startOnce(on, contender);
    const peak = peakOf(contender);
    if (workload.needsPeak && peak === undefined)
      throw new Error('its rate with one hot ticket is not known');
    const details = { ...measurement, warmUpSeconds: WARM_UP_SECONDS, peak: peak ?? 0 };
    return await measure(on, details, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw stop.signal.reason;
    return {
      contender: contender.name,
      workload: workload.name,
      connections: workload.connections,
      round,
      discarded: (error as Error).message.split('\n', 1)[0]!,
      seconds: 0,
      accepted: 0,
      refused: {},
      acceptedPerSecond: 0,
      latencyMs: { p50: 0, p90: 0, p99: 0, max: 0 },
    };
  }
}

/** What is measured is how the processes run from their second start on, when compiled code lies in the cache. */
async function startOnce(on: Servers, { start }: Contender): Promise<void> {
  await using database = await on.openDatabase();
  const running = await start({ databaseUrl: database.url, redisUrl: on.redisUrl, db: database.db });
  await running.stop();
}

function isSame(run: Run, contender: Contender, workload: Workload): boolean {
  return (
    run.contender === contender.name &&
    run.workload === workload.name &&
    run.connections === workload.connections
  );
}

function peakOf(contender: Contender): number | undefined {
  const rates = runs.filter((run) => isSame(run, contender, hotTicket(128)) && !run.discarded).map(rateOf);
  return rates.length > 0 ? median(rates) : undefined;
}

function summarize(servers: Servers, measuredAlone: Awaited<ReturnType<typeof measureAlone>>): BenchResults {
  const comparisons = compare(pairs);
  const planned = [hotTicket(128), ...pairings.map(({ workload }) => workload)];
  const workloads = new Map(planned.map((workload) => [workload.name, workload]));
  const contenders = allContenders.filter(({ name }) => runs.some((run) => run.contender === name));
  return {
    startedAt,
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(
      ' ',
    ),
    commit: commit(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      os: `${system()} ${release()}`,
    },
    versions: { node: process.version, ...servers.versions },
    contenders: contenders.map(({ name, description }) => ({ name, description })),
    workloads: [...workloads.values()].map(({ name, description, paced }) => ({ name, description, paced })),
    runs,
    comparisons,
    ...measuredAlone,
    targets: judgeTargets({ runs, comparisons, ...measuredAlone }),
  };
}

function commit(): string | null {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}
