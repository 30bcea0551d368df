// `npm start`: all of Floodgate on one machine, with an embedded Postgres. --watch (`npm run dev`) restarts a
// service when its sources change. --inspect (`npm run debug`) lets a debugger attach.
import path from 'node:path';
import { ConfigError, loadConfig, reasonOf } from '@floodgate/service';
import type { ServiceName } from '@floodgate/database';
import { StandaloneConfig } from './config.ts';
import { runStandalone } from './run-standalone.ts';

const INSPECTOR_PORTS = { api: 9229, worker: 9230, delivery: 9231, console: 9232 };
const workspace = path.resolve(import.meta.dirname, '../../..');
const stop = new AbortController();
const stopRequested = new Error('stop');
// One Ctrl-C can cause several signals: from the terminal, from npm and from the parent process.
// "disconnect": the parent was killed.
for (const event of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect']) {
  process.on(event, () => stop.abort(stopRequested));
}
process.on('uncaughtException', (error) => stop.abort(error));

// Every stop goes through runStandalone, which leaves no process behind.
const reason = await start().catch((error: unknown) => error);
process.exit(report(reason));

async function start(): Promise<never> {
  const env = { ...process.env, LOG_LEVEL: process.env['LOG_LEVEL'] || 'warn' };
  const config = loadConfig(StandaloneConfig, env);
  const { DATA_DIR } = config;
  // npm changes the current directory. INIT_CWD is the user's.
  const from = process.env['INIT_CWD'] ?? process.cwd();
  const directory = DATA_DIR ? path.resolve(from, DATA_DIR) : path.join(workspace, '.floodgate');
  const print = (text: string) => process.stdout.write(text);
  return runStandalone({ config, directory, env, programOf, print }, stop);
}

function programOf(app: ServiceName) {
  const watch = process.argv.includes('--watch') ? ['--watch'] : [];
  const inspect = process.argv.includes('--inspect') ? [`--inspect=${INSPECTOR_PORTS[app]}`] : [];
  return [...watch, ...inspect, path.join(workspace, `apps/${app}/src/main.ts`)];
}

/** Prints the reason for the end. Returns the exit code. */
function report(error: unknown) {
  if (error === stopRequested) {
    process.stdout.write('stopped\n');
    return 0;
  }
  process.stderr.write(`floodgate: ${reasonOf(error)}\n`);
  return error instanceof ConfigError ? 2 : 1;
}
