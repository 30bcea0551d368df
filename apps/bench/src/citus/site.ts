import { setTimeout as delay } from 'node:timers/promises';
import { reconcile } from '@floodgate/registrations';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import {
  startApiProcess,
  startWorkerProcess,
  type ServiceProcess,
} from '@floodgate/test/harness/service-process.ts';
import { cpuMicrosOfTree } from '@floodgate/test/harness/process-usage.ts';

const DRAIN_LIMIT_MS = 120_000;
/** On a cluster, each poll uses time on every server. */
const DRAIN_POLL_MS = 500;

/** Two APIs and a worker on a database. */
export interface Site {
  baseUrls: string[];
  cpuMicros(): Promise<{ apis: number; worker: number }>;
  stop(): Promise<void>;
}

/** Starts APIs and worker. `entries`: the database URL of each API. */
export async function startSite(databaseUrl: string, entries: string[], redisUrl: string): Promise<Site> {
  const env = { DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl };
  const started: ServiceProcess[] = [await startWorkerProcess(env)];
  const stop = async () => void (await Promise.all(started.map((process) => process.end())));
  const baseUrls: string[] = [];
  try {
    for (const entry of entries) {
      const api = await startApiProcess({ ...env, DATABASE_URL: entry });
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

/** Returns the number of stored registrations by ticket. */
export async function readSold(db: Database): Promise<Map<number, number>> {
  const { rows } = await sql<{ ticketId: number; sold: number }>`
    select ticket_id as "ticketId", count(*) as sold from registrations group by ticket_id`.execute(db);
  return new Map(rows.map(({ ticketId, sold }) => [ticketId, sold]));
}

/** Waits until nothing is pending. Throws after a time limit. */
export async function drain(db: Database): Promise<void> {
  for (const giveUpAt = performance.now() + DRAIN_LIMIT_MS; performance.now() < giveUpAt;) {
    const { rows } = await sql`select from batches where state = 'pending' limit 1`.execute(db);
    if (rows.length === 0) return;
    await delay(DRAIN_POLL_MS);
  }
  throw new Error('not everything was finalized');
}

/** Returns the fault in the books, or an empty text if they balance. */
export async function readFault(db: Database): Promise<string> {
  const [first] = await reconcile(db);
  return first ? `${first.subject} ${first.problem}` : '';
}
