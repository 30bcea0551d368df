import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { ServiceName } from '@floodgate/database';
import { claimFreePort, type Exit } from '@floodgate/embedded-postgres';
import { ConfigError, Failure, retry, sleep, systemClock } from '@floodgate/service';

const REFUSED_EXIT_CODE = 2;
const READY_TIMEOUT_MS = 60_000;
const PORT_POLL_MS = 50;
/** How long an API may need to stop after its parent was killed. */
const ABANDONED_API_MS = 12_000;
/** Longer than SHUTDOWN_TIMEOUT_MS, which the services enforce themselves. */
const STOP_TIMEOUT_MS = 15_000;

/**
 * Pauses before a service that ended is started again: doubled each time, and the first again after it has
 * run for a while.
 */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const RUNS_WELL_MS = 60_000;

const NAMES: Record<ServiceName, string> = {
  api: 'the API',
  delivery: 'the delivery process',
  worker: 'the worker',
  console: 'the console',
};

interface Services {
  /** Returns Node.js's arguments for a service: flags, then a file. */
  programOf: (service: ServiceName) => string[];
  envOf: (service: ServiceName) => NodeJS.ProcessEnv;
  stop: AbortController;
  print: (text: string) => void;
}

/**
 * Starts API, worker, delivery process and console. `apiIsReady` resolves when the API listens. It rejects
 * with Failure after a minute, or with the reason of a stop. From then on, a service that ends is started
 * again. Before, or if it refuses its settings, it aborts `stop`. Disposing of the result stops all services
 * concurrently.
 */
export function startServices({ programOf, envOf, stop, print }: Services) {
  let isReady = false;
  const start = (service: ServiceName) => {
    const started = startService(programOf(service), envOf(service));
    if (service === 'delivery' && started.child.pid) lowerPriority(started.child.pid);
    return started;
  };
  const supervise = (service: ServiceName) =>
    keepRunning(
      () => start(service),
      (exit) => {
        if (stop.signal.aborted) return false;
        if (!isReady || exit.code === REFUSED_EXIT_CODE) stop.abort(endOf(NAMES[service], exit));
        return isReady && exit.code !== REFUSED_EXIT_CODE;
      },
      (exit, pauseMs) => {
        const name = NAMES[service].replace(/^t/, 'T');
        print(`${name} stopped unexpectedly (${causeOf(exit)}). It starts again in ${pauseMs / 1_000} s.\n`);
      },
      stop.signal,
    );
  const api = supervise('api');
  const all = [api, supervise('delivery'), supervise('worker'), supervise('console')];
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(READY_TIMEOUT_MS)]);
  const apiIsReady = once(api.first.child, 'message', { signal })
    .catch(() => {
      stop.signal.throwIfAborted();
      throw new Failure(`the API was not ready after ${READY_TIMEOUT_MS / 1000} s`);
    })
    .then(() => void (isReady = true));
  const stopAll = async () => void (await Promise.all(all.map((one) => one.stop())));
  return { apiIsReady, [Symbol.asyncDispose]: stopAll };
}

/** Starts a service, and again whenever it ends and `isWanted`. `stop` ends it for good. */
function keepRunning(
  start: () => ReturnType<typeof startService>,
  isWanted: (exit: Exit) => boolean,
  onRestart: (exit: Exit, pauseMs: number) => void,
  signal: AbortSignal,
) {
  const first = start();
  let running = first;
  let isStopping = false;
  async function watch() {
    let pauseMs = FIRST_PAUSE_MS;
    for (let startedAt = performance.now(); ; startedAt = performance.now()) {
      const exit = await running.exited;
      if (isStopping || !isWanted(exit)) return;
      if (performance.now() - startedAt > RUNS_WELL_MS) pauseMs = FIRST_PAUSE_MS;
      onRestart(exit, pauseMs);
      await sleep(systemClock, pauseMs, signal);
      if (isStopping || signal.aborted) return;
      running = start();
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
  const watched = watch();
  const stop = async () => {
    isStopping = true;
    await running.stop();
    await watched;
  };
  return { first, stop };
}

// Starts the service in a new process group, so that a terminal's Ctrl-C does not stop it out of order. The
// service sends "ready" on the IPC channel. If this process is killed, the channel closes and the service
// stops.
function startService(program: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [...process.execArgv, ...program], {
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    windowsHide: true,
  });
  // A process that could not be created emits "error", not "exit".
  const ended = once(child, 'exit').catch(() => undefined);
  const exited = ended.then((): Exit => ({ code: child.exitCode, signal: child.signalCode }));
  const stop = async () => {
    // Windows has no signals. There, the end of the channel stops the service.
    if (process.platform !== 'win32') child.kill('SIGTERM');
    else if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  return { child, exited, stop };
}

/** Gives the process the lowest CPU priority: e-mails and webhooks can wait, registrations cannot. */
export function lowerPriority(pid: number) {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
    // With autogroup, Linux first divides the CPU between sessions, and each service is a session.
    writeFileSync(`/proc/${pid}/autogroup`, '19');
  } catch {
    // The process has ended, or the system does not support or allow this. It is optional.
  }
}

/** Returns the port, or a free port for 0. Throws Failure with the reason if the port cannot be opened. */
export function claimPort(port: number, host: string, wasAbandoned: boolean) {
  const withinMs = wasAbandoned ? ABANDONED_API_MS : 0;
  const claiming = retry(() => claimFreePort(port, host), { delayMs: PORT_POLL_MS, withinMs });
  return claiming.catch((cause: NodeJS.ErrnoException) => {
    const noAddress = `HOST ${host} is not an address of this machine`;
    const reasons: Record<string, string> = {
      EADDRINUSE: `port ${port} is already in use; choose another, as in PORT=${port + 1} npm start`,
      EACCES: `this user may not open port ${port}; choose one above 1023, as in PORT=3000 npm start`,
      EADDRNOTAVAIL: noAddress,
      ENOTFOUND: noAddress,
    };
    const reason = reasons[cause.code ?? ''] ?? `cannot listen on ${host}:${port}: ${cause.message}`;
    throw new Failure(reason, { cause });
  });
}

function endOf(name: string, exit: Exit) {
  // The service has printed the variable.
  if (exit.code === REFUSED_EXIT_CODE) return new ConfigError(`${name} refused its settings`);
  return unexpectedEnd(name, exit);
}

/** Returns the reason to stop after a process ended unexpectedly. */
export const unexpectedEnd = (name: string, exit: Exit) =>
  new Failure(`${name} stopped unexpectedly (${causeOf(exit)}); stopping`);

const causeOf = ({ code, signal }: Exit) => signal ?? `exit code ${code}`;
