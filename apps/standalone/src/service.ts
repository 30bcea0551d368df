import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Exit } from '@floodgate/embedded-postgres';

/** The API or the worker, as a process of its own. */
export interface Service {
  exited: Promise<Exit>;
  /** Lets it finish what it is doing; kills it when it takes too long. Safe to call twice. */
  stop(): Promise<void>;
}

/** Longer than the services' own deadline (SHUTDOWN_TIMEOUT_MS), which is theirs to keep. */
const STOP_TIMEOUT_MS = 15_000;

/**
 * Starts a program of this workspace on the Node.js that runs this one. In a process group of its own, so
 * that a terminal's Ctrl-C does not reach it before its turn; with an IPC channel, whose end tells it to stop should this
 * process be killed.
 */
export function startService(program: readonly string[], env: NodeJS.ProcessEnv): Service {
  const child = spawn(process.execPath, [...process.execArgv, ...program], {
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    windowsHide: true,
  });
  const exited = exitOf(child);
  const stop = async () => {
    askToStop(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  return { exited, stop };
}

function askToStop(child: ChildProcess): void {
  // Windows knows no signals: there, the end of the channel has to do.
  if (process.platform !== 'win32') child.kill('SIGTERM');
  else if (child.connected) child.disconnect();
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  // A process that could not be created has an error instead of an exit.
  await once(child, 'exit').catch(() => undefined);
  return { code: child.exitCode, signal: child.signalCode };
}
