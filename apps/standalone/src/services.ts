import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@floodgate/database';
import { assertPortFree, findFreePort, type Exit } from '@floodgate/embedded-postgres';
import { Failure } from '@floodgate/service';
import { ConfigRefused } from './failures.ts';

const REFUSED_EXIT_CODE = 2;
const READY_TIMEOUT_MS = 60_000;
const PORT_POLL_MS = 50;
/** Time that an API may need to end after its parent was killed. */
const ABANDONED_API_MS = 12_000;
/** Longer than the services' own deadline (SHUTDOWN_TIMEOUT_MS), which is theirs to keep. */
const STOP_TIMEOUT_MS = 15_000;

interface ServicesOptions {
  programs: Record<ServiceName, string[]>;
  env: Record<ServiceName, NodeJS.ProcessEnv>;
  host: string;
  port: number;
  /** Aborted, with the reason, when one of them ends. */
  stop: AbortController;
}

/**
 * Starts API, worker and delivery. `apiIsReady` resolves when the API listens, and rejects with Failure after a minute or with the
 * reason to stop. Disposing of them stops all, side by side.
 */
export function startServices({ programs, env, host, port, stop }: ServicesOptions) {
  const api = startService(programs.api, env.api);
  const worker = startService(programs.worker, env.worker);
  const delivery = startService(programs.delivery, env.delivery);
  if (delivery.child.pid) lowerPriority(delivery.child.pid);
  // Somebody may have taken the port after it was found free. Once the API has listened, it is free again.
  const whyApiEnded = (exit: Exit) =>
    claimPort(port, host).then(
      () => endOf('API', exit),
      (taken: Error) => taken,
    );
  void api.exited.then(whyApiEnded).then((reason) => stop.abort(reason));
  void worker.exited.then((exit) => stop.abort(endOf('worker', exit)));
  void delivery.exited.then((exit) => stop.abort(endOf('delivery process', exit)));
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(READY_TIMEOUT_MS)]);
  const apiIsReady = once(api.child, 'message', { signal }).catch(() => {
    stop.signal.throwIfAborted();
    throw new Failure(`the API was not ready after ${READY_TIMEOUT_MS / 1000} s`);
  });
  const stopAll = async () =>
    void (await Promise.all([api, worker, delivery].map((service) => service.stop())));
  return { apiIsReady, [Symbol.asyncDispose]: stopAll };
}

// In a process group of its own, so that a terminal's Ctrl-C does not reach it before its turn. On the IPC channel it says that it
// is ready. The end of the channel tells it to stop should this process be killed.
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
  return { child, exited, stop };
}

/** Lets everything else on this machine go first: e-mails and webhooks can wait, and registrations cannot. */
export function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
    // Linux may share the CPU between sessions first (autogroup), and each service is a session.
    writeFileSync(`/proc/${pid}/autogroup`, '19');
  } catch {
    // The process has ended, or this system has no such file or does not allow it. Everything works without.
  }
}

const PORT_REASONS: Record<string, (port: number, host: string) => string> = {
  EADDRINUSE: (port) => `port ${port} is already in use; choose another, as in PORT=${port + 1} npm start`,
  EACCES: (port) =>
    `port ${port} may not be opened by this user; choose one above 1023, as in PORT=3000 npm start`,
  EADDRNOTAVAIL: (_, host) => `HOST ${host} is no address of this machine`,
  ENOTFOUND: (_, host) => `HOST ${host} is no address of this machine`,
};

/** Returns the port to listen on, free at this moment. Throws Failure, saying why nobody could listen on it. */
export async function claimPort(port: number, host: string, wasAbandoned = false): Promise<number> {
  const deadline = Date.now() + (wasAbandoned ? ABANDONED_API_MS : 0);
  for (;;) {
    try {
      if (port === 0) return await findFreePort();
      await assertPortFree(port, host).catch((cause: NodeJS.ErrnoException) => {
        const reason = PORT_REASONS[cause.code ?? '']?.(port, host);
        throw new Failure(reason ?? `cannot listen on ${host}:${port}: ${cause.message}`, { cause });
      });
      return port;
    } catch (error) {
      if (Date.now() >= deadline) throw error;
      await delay(PORT_POLL_MS);
    }
  }
}

function endOf(name: string, exit: Exit): Error {
  if (exit.code === REFUSED_EXIT_CODE) return new ConfigRefused(`the ${name} refused its settings`);
  return unexpectedEnd(`the ${name}`, exit);
}

/** Returns the reason to stop when one of the processes has ended by itself. */
export function unexpectedEnd(name: string, { code, signal }: Exit, hint = ''): Failure {
  return new Failure(`${name} stopped unexpectedly (${signal ?? `exit code ${code}`})${hint}; stopping`);
}
