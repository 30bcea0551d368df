import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { findFreePort } from '@floodgate/test/harness/free-port.ts';
import { createCheckoutDatabase, type Caller } from './checkout-database.ts';
import { ContenderProcess, endAll } from './contender-process.ts';
import type { Contender, RunningContender, Surroundings } from './contender.ts';
import { floodgateBooks } from './floodgate.ts';

type App = 'api' | 'worker' | 'cli' | 'standalone';
type Environment = Record<string, string>;

interface SmallProcess {
  env: Environment;
  /** Flags of all apps. An older checkout may have none. */
  everyFlags?: string[];
  /** Flags by the app's folder. An older checkout has one entry, `apps`, for the worker and the command. */
  flags: Record<string, string[]>;
}

/**
 * A checkout of Floodgate with its own Node.js, dependencies, V8 flags and schema. The benchmark uses only
 * interfaces that releases keep: the entry points of its apps, their environment, its commands and its
 * tables.
 */
export function checkout(name: string, directory: string): Contender {
  let caller: Caller | undefined;
  return {
    name,
    template: {
      name: `template_${name}`,
      fill: async (databaseUrl) => {
        const command = (args: readonly string[]) => runCommand(directory, databaseUrl, args);
        caller = await createCheckoutDatabase(command);
      },
    },
    fixture: (db) => Promise.resolve(caller!.fixture(db)),
    start: (surroundings) => startCheckout(directory, surroundings),
  };
}

/** Rejects with the reason if the directory is not an installed checkout. */
export async function assertCheckout(directory: string): Promise<void> {
  for (const file of ['apps/api/src/main.ts', 'node_modules/node/package.json'])
    await readFile(path.join(directory, file)).catch(() => {
      throw new Error(`--against takes an installed checkout of Floodgate; ${directory} has no ${file}`);
    });
}

async function startCheckout(
  directory: string,
  { databaseUrl, redisUrl, db }: Surroundings,
): Promise<RunningContender> {
  const env = { DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl };
  const [port, workerPort] = [String(await findFreePort()), String(await findFreePort())];
  const worker = await startApp(directory, 'worker', {
    env: { ...env, WORKER_HOST: '127.0.0.1', WORKER_PORT: workerPort },
  });
  const api = await startApp(directory, 'api', { env: { ...env, HOST: '127.0.0.1', PORT: port } });
  try {
    await untilReady(worker, workerPort);
    await untilReady(api, port);
  } catch (error) {
    await Promise.allSettled([api.end(), worker.end()]);
    throw error;
  }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    pids: { api: api.pid, worker: worker.pid },
    books: floodgateBooks(db),
    stop: () => endAll(api, worker),
  };
}

function untilReady(started: ContenderProcess, port: string): Promise<true> {
  const url = `http://127.0.0.1:${port}/health/ready`;
  return started.until(`${url} answers 200`, async () => {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    return isReady || undefined;
  });
}

/** Runs the operator's command of a checkout. Resolves with the document that it prints. */
export async function runCommand(
  directory: string,
  databaseUrl: string,
  args: readonly string[],
): Promise<unknown> {
  const command = await startApp(directory, 'cli', {
    env: { DATABASE_URL: databaseUrl },
    args: [...args, '--json'],
  });
  await command.finished();
  return JSON.parse(command.output);
}

interface AppStart {
  env: Environment;
  args?: readonly string[];
}

/** Starts an app of a checkout as its npm script does. */
export async function startApp(directory: string, app: App, start: AppStart): Promise<ContenderProcess> {
  const smallProcess = JSON.parse(
    await readFile(path.join(directory, 'packages/toolchain/small-process.json'), 'utf8'),
  ) as SmallProcess;
  const { env, args = [] } = start;
  return new ContenderProcess({
    name: `the ${app} of ${directory}`,
    node: path.join(directory, 'node_modules/node/bin/node'),
    flags: [
      ...(smallProcess.everyFlags ?? []),
      ...(smallProcess.flags[`apps/${app}`] ?? smallProcess.flags['apps'] ?? []),
    ],
    args: [path.join(directory, `apps/${app}/src/main.ts`), ...args],
    env: { ...smallProcess.env, ...env },
  });
}
