// npm run load: a quick look at how fast this machine registers on one hot ticket, beside the ceiling of an empty
// route. Starts a Postgres, a Redis (both durable), an API and a worker of its own. A ratio between two figures of one
// run says something; a single figure mostly tells how busy the machine was.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, migrate, reconcile, type Database } from '@floodgate/database';
import { startPostgres } from '@floodgate/standalone/embedded-postgres';
import { createFixture } from '../harness/fixture.ts';
import { attendee } from '../harness/partner-client.ts';
import { startApiProcess, startWorkerProcess, type ServiceProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startRedis } from '../services/redis.ts';
import { generateLoad, type Load } from './load-generator.ts';

const ROUNDS = 3;
const SECONDS = Number(process.argv[2] ?? 5);
const REDIS = [
  '--appendonly',
  'yes',
  '--appendfsync',
  'everysec',
  '--save',
  '',
  '--maxmemory-policy',
  'noeviction',
];

const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-load-'));
const postgres = await startPostgres({
  dataDir: path.join(directory, 'postgres'),
  logFile: path.join(directory, 'postgres.log'),
});
const redis = await startRedis(REDIS);
const db = connect({ connectionString: postgres.url(), applicationName: 'load', maxConnections: 2 });
await migrate(db);
const fixture = await createFixture(db);
const ticketId = await fixture.addTicket({ capacity: 2_000_000_000 });
const headers = { 'x-secret-key': fixture.secretKey, 'x-event-ref': fixture.eventRef };
const body = JSON.stringify(attendee(ticketId));

const env = { DATABASE_URL: postgres.url(), QUEUE_URL: redis.url };
const services: ServiceProcess[] = [];
try {
  // Once for the compile cache, so that what is measured is how the processes run from their second start on.
  for (const process of [await startApiProcess(env), await startWorkerProcess(env)]) await process.end();
  const api = await startApiProcess(env);
  const worker = await startWorkerProcess(env);
  services.push(api, worker);
  const load = (connections: number, seconds = SECONDS): Load => ({
    url: `${api.baseUrl}/api/v1/events/register`,
    headers,
    body,
    connections,
    seconds,
  });

  await generateLoad(load(128, 2));
  const lone = await generateLoad(load(1, 2));
  print(
    `alone, one request after the other: p50 ${lone.p50Ms.toFixed(2)} ms, p99 ${lone.p99Ms.toFixed(2)} ms`,
  );
  for (const connections of [128, 512]) {
    for (let round = 0; round < ROUNDS; round++) await compare(load(connections), [api, worker]);
  }
  const differences = await reconcile(db);
  print(differences.length === 0 ? 'the books balance' : JSON.stringify(differences));
} finally {
  await Promise.all(services.map((service) => service.end()));
  await db.destroy();
  await Promise.all([postgres.stop(), redis.stop()]);
  await rm(directory, { recursive: true, force: true });
}

/** One round: the empty route, then Floodgate until all that it accepted is finalized. */
async function compare(load: Load, processes: ServiceProcess[]): Promise<void> {
  const empty = await measureEmptyRoute(load);
  const startedAt = performance.now();
  const result = await generateLoad(load);
  await waitUntil('everything is finalized', async () => (await countPending(db)) === 0);
  const finalizedPerSecond = result.succeeded / ((performance.now() - startedAt) / 1000);
  const memory = await Promise.all(processes.map(({ child }) => residentMegabytes(child.pid!)));
  print(
    `${load.connections} connections: ${finalizedPerSecond.toFixed(0)}/s registered and finalized ` +
      `(p50 ${result.p50Ms.toFixed(1)} ms, p99 ${result.p99Ms.toFixed(1)} ms, ${result.failed} failed); ` +
      `empty route ${empty.toFixed(0)}/s; ratio ${(finalizedPerSecond / empty).toFixed(2)}; ` +
      `memory API + worker ${memory.join(' + ')} MB`,
  );
}

async function measureEmptyRoute(load: Load): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('empty-route.ts', import.meta.url))]);
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const baseUrl = await waitUntil('the empty route listens', () => /at (http:\S+)/.exec(output)?.[1]);
  const { perSecond } = await generateLoad({ ...load, url: `${baseUrl}/api/v1/events/register` });
  child.kill();
  return perSecond;
}

async function countPending(database: Database): Promise<number> {
  const pending = await database.selectFrom('batches').select('id').where('state', '=', 'pending').execute();
  return pending.length;
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
