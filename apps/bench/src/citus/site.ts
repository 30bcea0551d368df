import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import {
  startApiProcess,
  startWorkerProcess,
  type ServiceProcess,
} from '@floodgate/test/harness/service-process.ts';
import { cpuMicrosOfTree } from '@floodgate/test/harness/process-usage.ts';
import { floodgateBooks } from '../contenders/floodgate.ts';
import { finalizeAll } from '../rates/books.ts';

/** Several APIs and a worker on a database. */
export interface Site {
  baseUrls: string[];
  cpuMicros(): Promise<{ apis: number; worker: number }>;
  stop(): Promise<void>;
}

/** Starts APIs and a worker. */
export async function startSite(databaseUrl: string, count: number, redisUrl: string): Promise<Site> {
  const env = { DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl };
  const started: ServiceProcess[] = [await startWorkerProcess(env)];
  const stop = async () => void (await Promise.all(started.map((process) => process.end())));
  const baseUrls: string[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      const api = await startApiProcess(env);
      started.push(api);
      baseUrls.push(api.baseUrl);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [worker, ...apis] = started as [ServiceProcess, ...ServiceProcess[]];
  const cpuOf = async ({ child }: ServiceProcess) => (await cpuMicrosOfTree(child.pid!)) ?? Number.NaN;
  return {
    baseUrls,
    cpuMicros: async () => ({
      apis: (await Promise.all(apis.map(cpuOf))).reduce((sum, one) => sum + one, 0),
      worker: await cpuOf(worker),
    }),
    stop,
  };
}

/** Returns the number of stored registrations. */
export async function readSold(db: Database): Promise<number> {
  const { rows } = await sql<{ sold: number }>`select count(*) as sold from registrations`.execute(db);
  return rows[0]!.sold;
}

/** Waits until nothing is pending. Throws after a time limit. */
export const drain = (db: Database): Promise<void> => finalizeAll(floodgateBooks(db));
