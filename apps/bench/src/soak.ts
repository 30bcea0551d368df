import { setTimeout as delay } from 'node:timers/promises';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { floodgate } from './contenders/floodgate.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK } from '@floodgate/rehearsal/load/load';
import { finalizeAll, findFault } from './measure.ts';
import { Meter } from './meter.ts';
import type { Progress } from './progress.ts';
import type { Soak } from './results.ts';
import type { Servers } from './servers.ts';
import { hotTicket } from './workloads.ts';

export const SOAK_SECONDS = 600;
const SAMPLE_SECONDS = 5;

/**
 * Runs one hot ticket with 128 connections for ten minutes, and records the memory of every process. Throws if an answer is not "00" or
 * the books do not balance.
 */
export async function soak(servers: Servers, progress: Progress, signal: AbortSignal): Promise<Soak> {
  const workload = hotTicket(128);
  await using database = await servers.openDatabase();
  const fixture = await createFixture(database.db);
  const { requests } = await workload.prepare(fixture, 0, SOAK_SECONDS);
  const { redisUrl } = servers;
  const running = await floodgate.start({ databaseUrl: database.url, redisUrl, db: database.db });
  try {
    const meter = new Meter({ ...servers.pids, ...running.pids });
    const samples: Soak['samples'] = [];
    const startedAt = performance.now();
    const { connections } = workload;
    const load = generateLoad({ baseUrl: running.baseUrl, requests, connections, seconds: SOAK_SECONDS });
    while (!(await Promise.race([load.then(() => true), delay(SAMPLE_SECONDS * 1000, false)]))) {
      signal.throwIfAborted();
      const second = Math.round((performance.now() - startedAt) / 1000);
      samples.push({ second, residentMiB: await meter.residentMiB() });
      progress.say(`soak, ${second} of ${SOAK_SECONDS} s`);
      progress.add(SAMPLE_SECONDS);
    }
    const result = await load;
    const isFinalized = await finalizeAll(running);
    const fault = findFault(await running.books?.read(), result, workload, isFinalized);
    if (fault) throw new Error(`the soak does not count: ${fault}`);
    const perSecond = Math.round(answersOf(result, OK) / result.seconds).toLocaleString('en-US');
    return {
      description: `${workload.description}; ${connections} connections, ${SOAK_SECONDS} s, ${perSecond} registrations/s, the books balance`,
      samples,
    };
  } finally {
    await running.stop();
  }
}
