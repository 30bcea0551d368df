import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type Load, type RequestLog } from '@floodgate/rehearsal/load/load';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import type { BookKeeper } from '../contenders/contender.ts';
import { openFloodgate } from '../contenders/floodgate.ts';
import { attempt, type Bench, type Mode, type Settings } from '../mode.ts';
import { assertTickets, finalizeAll } from '../rates/books.ts';
import { registerRequest } from '../rates/workloads.ts';
import { atLeast, atMost, countsOf, type Values } from '../report/results.ts';
import { quantile } from '../report/statistics.ts';
import { MemoryWatch } from './memory-watch.ts';
import { countCodes, dueIn, latencies, rateIn, secondsUntilUsual, type Span } from './read-log.ts';

const TIMES = 3;
/** Load before and after the overload, as a share of the peak. */
const NORMAL = 0.5;
const WARM_UP_SECONDS = 3;
/** Enough for full groups while others are answered. */
const PEAK_CONNECTIONS = 1_000;
/** Connections of partners: more than can wait or run together, so that the others are refused. */
const PARTNERS = 10_000;
/** How long a partner's request waits for a connection. After that, its caller has left. */
const PATIENCE_MS = 1_000;
export const GREETING = { method: 'GET', path: '/health/live', headers: {} } as const;
/**
 * With slow commits of this many registrations, the peak is about 2,300/s. Two cores then suffice to send and
 * refuse three times as many requests.
 */
const SLOW_BATCH_LIMIT = '250';
/** Time until the queue is full. */
const FILLING_MS = 2_000;
const OVERHEAD_SECONDS = 15;

const BOTTLENECKS = ['Postgres', 'CPU'] as const;
type Bottleneck = (typeof BOTTLENECKS)[number];

const TARGETS = {
  'sent ÷ scheduled': atLeast(0.95),
  'accepted ÷ peak': atLeast(0.9),
  '90 p99 ms': atMost(50),
  '90 without Retry-After': atMost(0),
  'API MiB at most': atMost(500),
  'recovered after s': atMost(2),
};

const secondsOfCase = ({ seconds }: Settings): number => WARM_UP_SECONDS + 2.5 * seconds + OVERHEAD_SECONDS;

/**
 * Offers three times the service's peak. First with commits of 100 ms: then Postgres is the bottleneck, and
 * not the machine that generator and service share. Then with the full speed of the machine.
 */
export const OVERLOAD: Mode = {
  name: 'overload',
  help: 'three times the load that the service can serve',
  usual: { seconds: 10 },
  duration: (settings) => BOTTLENECKS.length * secondsOfCase(settings),
  measure: async (bench, settings) => {
    for (const bottleneck of BOTTLENECKS) {
      const values = await attempt(bench, `overload, bottleneck ${bottleneck}`, () =>
        overload(bench, bottleneck, settings),
      );
      if (values) bench.results.add('Three times the peak, by bottleneck', bottleneck, values, TARGETS);
      bench.progress.add(secondsOfCase(settings));
    }
  },
};

async function overload({ servers }: Bench, bottleneck: Bottleneck, { seconds }: Settings): Promise<Values> {
  const slowBatchLimit = bottleneck === 'Postgres' ? SLOW_BATCH_LIMIT : undefined;
  await using floodgate = await openFloodgate(servers, { slowBatchLimit });
  const { db, baseUrl, books, pids } = floodgate;
  const requests = [await registerRequest(await createFixture(db))];
  const common = { baseUrl, requests };
  const peak = await findPeak({ ...common, connections: PEAK_CONNECTIONS, seconds: seconds / 2 });
  await finalizeAll(books);
  const registeredBefore = (await books.read()).registered;
  const memory = new MemoryWatch(pids.api);
  const phases = [
    { seconds: seconds / 2, perSecond: NORMAL * peak },
    { seconds, perSecond: TIMES * peak },
    { seconds: seconds / 2, perSecond: NORMAL * peak },
  ];
  const partners = { connections: PARTNERS, greeting: GREETING, patienceMs: PATIENCE_MS };
  const result = await generateLoad({ ...common, ...partners, seconds: 0, phases, logged: true });
  const { max } = await memory.stop();
  await assertBooks(books, result.log!, registeredBefore);
  return {
    'peak/s': peak,
    ...readOverload(result.log!, peak, seconds),
    'API MiB at most': max,
    'cores of the generator': result.cpuMicros / 1e6 / result.seconds,
  };
}

/** Returns the rate of a closed loop after a warm-up. */
export async function findPeak(load: Load): Promise<number> {
  await generateLoad({ ...load, seconds: WARM_UP_SECONDS });
  const result = await generateLoad(load);
  return answersOf(result, OK) / result.seconds;
}

function readOverload(log: RequestLog, peak: number, seconds: number): Values {
  const [start, end] = [seconds * 500, seconds * 1500];
  const before: Span = { from: start / 2, to: start };
  const full: Span = { from: start + FILLING_MS, to: end };
  const after: Span = { from: end, to: end + seconds * 500 };
  const usualMs = quantile(latencies(log, dueIn(log, before)), 0.99);
  const numbers = dueIn(log, { from: start, to: end });
  const [refused, accepted] = [latencies(log, numbers, '90'), latencies(log, numbers, '00')];
  const sent = numbers.filter((number) => log.code[number] !== 'gone');
  const sendLags = sent.map((number) => log.sentAt[number]! - log.dueAt[number]!);
  const scheduled = rateIn(log, 'dueAt', full);
  const withoutRetry = log.code.filter((code, number) => code === '90' && log.detail[number] === '');
  return {
    'scheduled/s': scheduled,
    'sent ÷ scheduled': rateIn(log, 'sentAt', full) / scheduled,
    'accepted ÷ peak': rateIn(log, 'answeredAt', full, '00') / peak,
    'sent late by p99 ms': quantile(sendLags, 0.99),
    '00 p50 ms': quantile(accepted, 0.5),
    '00 p99 ms': quantile(accepted, 0.99),
    '90 p50 ms': quantile(refused, 0.5),
    '90 p99 ms': quantile(refused, 0.99),
    '90 without Retry-After': withoutRetry.length,
    'recovered after s': secondsUntilUsual(log, after, usualMs),
    ...countsOf(countCodes(log, numbers)),
  };
}

/** Throws unless every "00" is stored, and otherwise only requests with an unknown outcome. */
async function assertBooks(books: BookKeeper, log: RequestLog, registeredBefore: number): Promise<void> {
  const stored = (await assertTickets(books)).registered - registeredBefore;
  const of = (...codes: string[]): number => log.code.filter((code) => codes.includes(code)).length;
  const [accepted, unknown] = [of('00'), of('91', 'cut', 'none')];
  if (stored < accepted || stored > accepted + unknown)
    throw new Error(`${accepted} were accepted, but ${stored} are stored`);
}
