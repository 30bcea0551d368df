import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { ServiceName } from '@floodgate/database';
import { claimFreePort, type Exit } from '@floodgate/embedded-postgres';
import { ConfigError, Failure, retry } from '@floodgate/service';

const REFUSED_EXIT_CODE = 2;
const READY_TIMEOUT_MS = 60_000;
const PORT_POLL_MS = 50;
/** Time that an API may need to end after its parent was killed. */
const ABANDONED_API_MS = 12_000;
/** Longer than the services' own deadline (SHUTDOWN_TIMEOUT_MS), which is theirs to keep. */
const STOP_TIMEOUT_MS = 15_000;

interface ServicesOptions {
  /** The arguments of Node.js for a service: flags, then a file. */
  programOf: (service: ServiceName) => string[];
  envOf: (service: ServiceName) => NodeJS.ProcessEnv;
  /** Aborted, with the reason, when one of them ends. */
  stop: AbortController;
}

/**
 * Starts API, worker and delivery. `apiIsReady` resolves when the API listens, and rejects with Failure after a minute or with the
 * reason to stop. Disposing of them stops all, side by side.
 */
export function startServices({ programOf, envOf, stop }: ServicesOptions) {
  const start = (service: ServiceName, name: string) => {
    const started = startService(programOf(service), envOf(service));
    void started.exited.then((exit) => stop.abort(endOf(name, exit)));
    return started;
  };
  const api = start('api', 'the API');
  const worker = start('worker', 'the worker');
  const delivery = start('delivery', 'the delivery process');
  if (delivery.child.pid) lowerPriority(delivery.child.pid);
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

/** Returns the port to listen on, free at this moment. Throws Failure, with the reason why nobody can listen on it. */
export function claimPort(port: number, host: string, wasAbandoned = false): Promise<number> {
  const withinMs = wasAbandoned ? ABANDONED_API_MS : 0;
  const claimed = retry(() => claimFreePort(port, host), { delayMs: PORT_POLL_MS, withinMs });
  return claimed.catch((cause: NodeJS.ErrnoException) => {
    const isNoAddress = `HOST ${host} is no address of this machine`;
    const reasons: Record<string, string> = {
      EADDRINUSE: `port ${port} is already in use; choose another, as in PORT=${port + 1} npm start`,
      EACCES: `port ${port} may not be opened by this user; choose one above 1023, as in PORT=3000 npm start`,
      EADDRNOTAVAIL: isNoAddress,
      ENOTFOUND: isNoAddress,
    };
    const reason = reasons[cause.code ?? ''] ?? `cannot listen on ${host}:${port}: ${cause.message}`;
    throw new Failure(reason, { cause });
  });
}

function endOf(name: string, exit: Exit): Error {
  // It has named the variable itself.
  if (exit.code === REFUSED_EXIT_CODE) return new ConfigError(`${name} refused its settings`);
  return unexpectedEnd(name, exit);
}

/** Returns the reason to stop when one of the processes has ended by itself. */
export function unexpectedEnd(name: string, { code, signal }: Exit, hint = ''): Failure {
  return new Failure(`${name} stopped unexpectedly (${signal ?? `exit code ${code}`})${hint}; stopping`);
}
