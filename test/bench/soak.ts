import { setTimeout as delay } from 'node:timers/promises';
import { createFixture } from '../harness/fixture.ts';
import type { Part } from './contenders/contender.ts';
import { floodgate } from './contenders/floodgate.ts';
import { generateLoad } from './load/generate.ts';
import { Meter } from './meter.ts';
import type { Progress } from './progress.ts';
import type { Soak } from './results.ts';
import type { Servers } from './servers.ts';
import { hotTicket } from './workloads.ts';

export const SOAK_SECONDS = 600;
const SAMPLE_SECONDS = 5;

/** Ten minutes of one hot ticket, 128 connections; records the memory of every process. */
export async function soak(servers: Servers, progress: Progress): Promise<Soak> {
  const workload = hotTicket(128);
  await using database = await servers.openDatabase();
  const fixture = await createFixture(database.db);
  const { requests } = await workload.prepare(fixture, 0, SOAK_SECONDS);
  const running = await floodgate.start({
    databaseUrl: database.url,
    redisUrl: servers.redisUrl,
    db: database.db,
  });
  const meter = new Meter({ ...servers.pids, ...running.pids });
  const samples: { second: number; residentMiB: Partial<Record<Part, number>> }[] = [];
  const startedAt = performance.now();
  const load = generateLoad({
    baseUrl: running.baseUrl,
    requests,
    connections: workload.connections,
    seconds: SOAK_SECONDS,
  });
  for (;;) {
    const isOver = await Promise.race([load.then(() => true), delay(SAMPLE_SECONDS * 1000, false)]);
    if (isOver) break;
    const second = Math.round((performance.now() - startedAt) / 1000);
    samples.push({ second, residentMiB: await meter.residentMiB() });
    progress.say(`soak, ${second} of ${SOAK_SECONDS} s`);
    progress.add(SAMPLE_SECONDS);
  }
  const result = await load;
  await running.stop();
  const accepted = Math.round((result.answers['200'] ?? 0) / result.seconds);
  return {
    description: `${workload.description}; ${workload.connections} connections, ${SOAK_SECONDS} s, ${accepted.toLocaleString('en-US')} registrations/s`,
    samples,
  };
}
