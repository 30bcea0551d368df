import { withFlags, type Contender } from '../contenders/contender.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { measure } from '../measure.ts';
import type { Progress } from '../progress.ts';
import { median } from '../report/statistics.ts';
import type { Run, Start } from '../results.ts';
import type { Servers } from '../servers.ts';
import { hotTicket } from '../workloads.ts';
import { parseGcTrace } from './gc-trace.ts';

const WARM_UP_SECONDS = 2;
const OVERHEAD_SECONDS = 4;
const TRACE_FLAG = '--trace-gc-nvp';
const CONNECTIONS = 128;

export interface StartsOptions {
  contender: Contender;
  /** Number of starts with each set of flags. */
  count: number;
  seconds: number;
  /** Sets of V8 flags to add. The API also starts without them. */
  flags: readonly (readonly string[])[];
}

export const startsSeconds = ({ count, seconds, flags }: StartsOptions): number =>
  count * (flags.length + 1) * (seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS);

/**
 * Starts the API repeatedly under one hot ticket, because V8's decisions in the first seconds of a process are final. Alternates the
 * variants, in one order and then in reverse. Throws if the books of a run do not balance.
 */
export async function startOften(
  servers: Servers,
  options: StartsOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Start[]> {
  const starts: Start[] = [];
  const variants = [[], ...options.flags];
  for (let round = 1; round <= options.count; round += 1) {
    for (const flags of round % 2 === 1 ? variants : variants.toReversed()) {
      progress.say(`start ${round} of ${options.count} ${flags.join(' ')}`.trim());
      starts.push(await startOnce(servers, { ...options, flags, round }, signal));
      progress.add(startsSeconds(options) / options.count / variants.length);
    }
  }
  return starts;
}

interface OneStart {
  contender: Contender;
  seconds: number;
  flags: readonly string[];
  round: number;
}

async function startOnce(servers: Servers, one: OneStart, signal: AbortSignal): Promise<Start> {
  const { seconds, round, flags } = one;
  const observed = { trace: '' };
  const contender = observe(one.contender, flags, observed);
  const measurement = {
    contender,
    workload: hotTicket(CONNECTIONS),
    round,
    seconds,
    warmUpSeconds: WARM_UP_SECONDS,
    peak: 0,
  };
  const run = await measure(servers, measurement, signal);
  if (run.discarded) throw new Error(`start ${round} does not count: ${run.discarded}`);
  return { flags: flags.join(' '), round, ...summarizeTrace(observed.trace), ...figuresOf(run) };
}

/** Returns the contender with tracing of its API's collections. `observed` gets the output during the latest load. */
function observe(contender: Contender, flags: readonly string[], observed: { trace: string }): Contender {
  return {
    ...contender,
    start: async (surroundings) => {
      const running = await withFlags(contender, [...flags, TRACE_FLAG]).start(surroundings);
      const output = () => running.apiOutput?.() ?? '';
      return {
        ...running,
        generate: async (load) => {
          const from = output().length;
          const result = await generateLoad(load);
          observed.trace = output().slice(from);
          return result;
        },
      };
    },
  };
}

/** Summarizes a process's trace of the collector. */
export function summarizeTrace(trace: string) {
  const collections = parseGcTrace(trace);
  // In the first collection, the new connections survive.
  const [, ...scavenges] = collections.filter(({ kind }) => kind === 'scavenge');
  if (scavenges.length === 0) throw new Error('there was hardly a scavenge: the load is too short');
  const markCompacts = collections.filter(({ kind }) => kind === 'mark-compact').length;
  const shares = scavenges.map(({ freedShare }) => freedShare);
  return {
    freedShare: { median: median(shares), worst: Math.min(...shares) },
    scavenges: scavenges.length,
    scavengeMs: median(scavenges.map(({ pauseMs }) => pauseMs)),
    markCompacts,
  };
}

function figuresOf(run: Run) {
  return {
    apiCpuMicros: run.cpuMicros?.api ?? Number.NaN,
    perSecond: run.finalizedPerSecond ?? run.acceptedPerSecond,
    p99Ms: run.latencyMs.p99,
    apiMiB: run.residentMiB?.api ?? Number.NaN,
  };
}
