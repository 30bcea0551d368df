import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServiceName } from '@floodgate/database';
import type { Exit } from '@floodgate/embedded-postgres';
import { assertPortFree } from './assert-port-free.ts';
import { ConfigRefused, StandaloneError } from './standalone-error.ts';

export interface ServicesOptions {
  /** What Node.js is given to run: a file, after flags. */
  programs: Record<ServiceName, string[]>;
  /** The environment of each, complete: see the config.ts of each. */
  env: Record<ServiceName, NodeJS.ProcessEnv>;
  host: string;
  port: number;
  /** Aborted, with the reason, when one of them ends. */
  stop: AbortController;
}

/** Longer than the services' own deadline (SHUTDOWN_TIMEOUT_MS), which is theirs to keep. */
const STOP_TIMEOUT_MS = 15_000;

/** Starts API and worker. Disposing of them stops both, side by side. */
export function startServices({ programs, env, host, port, stop }: ServicesOptions): AsyncDisposable {
  const api = startService(programs.api, env.api);
  const worker = startService(programs.worker, env.worker);
  void api.exited.then(async (exit) => stop.abort((await portFailure(port, host)) ?? endOf('API', exit)));
  void worker.exited.then((exit) => stop.abort(endOf('worker', exit)));
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all([api.stop(), worker.stop()]);
    },
  };
}

/**
 * Starts a program of this workspace on the Node.js that runs this one. In a process group of its own, so
 * that a terminal's Ctrl-C does not reach it before its turn; with an IPC channel, whose end tells it to stop should this
 * process be killed. `stop` lets it finish what it is doing, and kills it when it takes too long.
 */
function startService(program: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [...process.execArgv, ...program], {
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    windowsHide: true,
  });
  // A process that could not be created has an error instead of an exit.
  const ended = once(child, 'exit').catch(() => undefined);
  const exited = ended.then((): Exit => ({ code: child.exitCode, signal: child.signalCode }));
  const stop = async () => {
    // Windows knows no signals: there, the end of the channel has to do.
    if (process.platform !== 'win32') child.kill('SIGTERM');
    else if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  return { exited, stop };
}

// Somebody may have taken the port after it was found free. Once the API has listened, it is free again.
const portFailure = (port: number, host: string): Promise<unknown> =>
  assertPortFree(port, host).catch((error: unknown) => error);

const CONFIG_ERROR = 2;

function endOf(name: string, exit: Exit): Error {
  return exit.code === CONFIG_ERROR
    ? new ConfigRefused(`the ${name} refused its settings`)
    : unexpectedEnd(`the ${name}`, exit);
}

/** Returns the reason to stop when one of the processes has ended by itself. */
export function unexpectedEnd(name: string, { code, signal }: Exit, hint = ''): StandaloneError {
  return new StandaloneError(
    `${name} stopped unexpectedly (${signal ?? `exit code ${code}`})${hint}; stopping`,
  );
}
