import type { Exit } from '@floodgate/embedded-postgres';
import { assertPortFree } from './assert-port-free.ts';
import { startService } from './service.ts';
import { ConfigRefused, StandaloneError } from './standalone-error.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/** API and worker as they run. Disposing of them stops both, side by side. */
export interface Services extends AsyncDisposable {
  /** Resolves when the API takes requests; throws the reason of a stop, or StandaloneError. */
  untilReady(): Promise<void>;
}

export interface ServicesOptions {
  /** What Node.js is given to run: a file, after flags. */
  programs: { api: string[]; worker: string[] };
  /** The environment of each, complete: see the config.ts of each. */
  env: { api: NodeJS.ProcessEnv; worker: NodeJS.ProcessEnv };
  host: string;
  port: number;
  /** Where the API is reached from here. */
  baseUrl: string;
  /** Aborted, with the reason, when one of them ends. */
  stop: AbortController;
}

/** Starts API and worker. */
export function startServices(options: ServicesOptions): Services {
  const { programs, env, host, port, baseUrl, stop } = options;
  const api = startService(programs.api, env.api);
  const worker = startService(programs.worker, env.worker);
  void api.exited.then(async (exit) => stop.abort((await portFailure(port, host)) ?? endOf('API', exit)));
  void worker.exited.then((exit) => stop.abort(endOf('worker', exit)));
  return {
    untilReady: () => waitUntilReady(`${baseUrl}/health/ready`, stop.signal),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([api.stop(), worker.stop()]);
    },
  };
}

const CONFIG_ERROR = 2;

function endOf(name: string, exit: Exit): Error {
  return exit.code === CONFIG_ERROR
    ? new ConfigRefused(`the ${name} refused its settings`)
    : unexpectedEnd(`the ${name}`, exit);
}

export function unexpectedEnd(name: string, { code, signal }: Exit, hint = ''): StandaloneError {
  return new StandaloneError(
    `${name} stopped unexpectedly (${signal ?? `exit code ${code}`})${hint}; stopping`,
  );
}

// Somebody may have taken the port after it was found free. Once the API has listened, it is free again.
function portFailure(port: number, host: string): Promise<unknown> {
  return assertPortFree(port, host).then(
    () => undefined,
    (error: unknown) => error,
  );
}
