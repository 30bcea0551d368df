import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StandaloneConfig } from './config.ts';
import { openDataDir, type DataDir } from './data-dir.ts';
import { startPostgres, type Exit } from './embedded-postgres.ts';
import { assertPortFree, findFreePort } from './free-port.ts';
import { prepareDatabase } from './prepare-database.ts';
import { startService, type Service } from './service.ts';
import { ConfigRefused, StandaloneError } from './standalone-error.ts';
import { welcome } from './welcome.ts';

export interface Setup {
  config: StandaloneConfig;
  /** Absolute. */
  dataDir: string;
  /** The environment of API and worker, before what is decided here is added. */
  env: NodeJS.ProcessEnv;
  /** The files that are started as API and worker. */
  programs: { api: string; worker: string };
  print: (text: string) => void;
}

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
/** What an API whose parent was killed may need to end. */
const ABANDONED_PORT_PATIENCE_MS = 12_000;

/**
 * Runs Floodgate until `stop` is aborted, from outside or because one of the processes ended. Whatever was
 * started has been stopped, Postgres last, when this throws the reason of the abort or of a failed start.
 */
export async function runStandalone(setup: Setup, stop: AbortController): Promise<never> {
  const { config } = setup;
  // Disposed of in reverse order: services, Postgres, data directory.
  await using dataDir = await openDataDir(setup.dataDir);
  const port = await claimPort(config, dataDir, stop.signal);
  await using database = await openDatabase(config, dataDir, stop);
  const baseUrl = `http://${hostToCall(config.HOST)}:${port}`;
  const demoFile = path.join(dataDir.path, 'demo.json');
  const queueUrl = config.QUEUE_URL ?? database.url;
  const queueNamespace = config.QUEUE_NAMESPACE;
  const demo = await prepareDatabase({ databaseUrl: database.url, queueUrl, queueNamespace, demoFile, baseUrl });
  stop.signal.throwIfAborted();
  await using services = await startServices(setup, { DATABASE_URL: database.url, QUEUE_URL: queueUrl }, port);
  services.watch(stop);
  await waitUntilReady(`${baseUrl}/health/ready`, stop.signal);
  services.areReady = true;
  setup.print(welcome(demo, demoFile));
  await once(stop.signal, 'abort');
  throw stop.signal.reason;
}
