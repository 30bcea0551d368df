import { setTimeout as delay } from 'node:timers/promises';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK } from '@floodgate/rehearsal/load/load';
import { openFloodgate } from '../contenders/floodgate.ts';
import { Meter } from '../meter.ts';
import type { Mode } from '../mode.ts';
import { atMost } from '../report/results.ts';
import { median } from '../report/statistics.ts';
import { createRunFixture } from '../stored/many-events.ts';
import { finalizeAll, findFault } from './books.ts';
import { hotTicket } from './workloads.ts';

const SAMPLE_SECONDS = 5;
const OVERHEAD_SECONDS = 10;
const TABLE = 'soak';
const MEMORY = 'API + worker MiB at most';
const GROWTH = 'API + worker MiB at the end ÷ after the first tenth';

/** Resident memory of API and worker together, by second. */
interface Sample {
  second: number;
  miB: number;
}

/** Runs one hot ticket for a long time, and records the memory of every process. */
export const SOAK: Mode = {
  name: 'soak',
  help: 'ten minutes of steady load, and the memory of every process',
  usual: { seconds: 600 },
  duration: ({ seconds }) => seconds + OVERHEAD_SECONDS,
  measure: async ({ servers, results, progress, signal }, { seconds }) => {
    await using floodgate = await openFloodgate(servers);
    const { db, baseUrl, books, pids } = floodgate;
    const workload = hotTicket(128);
    const requests = await workload.prepare(await createRunFixture(db));
    const meter = new Meter({ ...servers.pids, ...pids });
    const samples: Sample[] = [];
    const startedAt = performance.now();
    const load = generateLoad({ baseUrl, requests, connections: workload.connections, seconds });
    while (!(await Promise.race([load.then(() => true), delay(SAMPLE_SECONDS * 1000, false)]))) {
      signal.throwIfAborted();
      const second = Math.round((performance.now() - startedAt) / 1000);
      progress.say(`soak, ${second} of ${seconds} s`);
      progress.add(SAMPLE_SECONDS);
      const { api = Number.NaN, worker = Number.NaN, postgres, redis } = await meter.residentMiB();
      samples.push({ second, miB: api + worker });
      results.add(TABLE, `minute ${Math.floor(second / 60) + 1}`, {
        'API MiB': api,
        'worker MiB': worker,
        'Postgres MiB': postgres,
        'Redis MiB': redis,
      });
    }
    const result = await load;
    await finalizeAll(books);
    const stored = await books.read();
    const fault = findFault(result, workload, stored, stored.registered);
    if (fault) throw new Error(`the soak does not count: ${fault}`);
    const values = {
      'per second': answersOf(result, OK) / result.seconds,
      [MEMORY]: Math.max(...samples.map(({ miB }) => miB)),
      [GROWTH]: growthOf(samples, seconds),
    };
    results.add('soak, the books balance', 'floodgate', values, {
      [MEMORY]: atMost(300),
      [GROWTH]: atMost(1.1),
    });
  },
};

/**
 * Returns memory at the end divided by memory after the first tenth, from medians of a twentieth of the time.
 */
function growthOf(samples: readonly Sample[], seconds: number): number | undefined {
  const around = (from: number): number | undefined => {
    const near = samples.filter(({ second }) => second >= from && second <= from + seconds / 20);
    return near.length > 0 ? median(near.map(({ miB }) => miB)) : undefined;
  };
  const [early, late] = [around(seconds / 10), around((seconds * 19) / 20)];
  return early && late && late / early;
}
