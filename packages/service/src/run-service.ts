import { Type, type Static, type TObject } from '@sinclair/typebox';
import { ConfigError } from './failure.ts';
import { loadConfig, whole } from './load-config.ts';
import { createLogger, describeError, type Logger } from './log.ts';
import { mistypedSettings } from './mistyped-settings.ts';
import { startTraces, traceSettings } from './traces.ts';

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export const processSettings = {
  LOG_LEVEL: Type.Union(
    LEVELS.map((level) => Type.Literal(level)),
    { default: 'info', description: LEVELS.join(', ') },
  ),
  SHUTDOWN_TIMEOUT_MS: whole('time limit for a stop', [100, 600_000], 10_000),
  ...traceSettings,
};

/**
 * Runs a service as this process. Reads the settings from the environment, creates the logger and starts the
 * service. A signal disposes of the service, which finishes running work. A parent process with an IPC
 * channel gets "ready" after the start; if the parent ends, the service stops. Exit codes: 0 stopped, 1
 * failed or did not stop in time, 2 wrong configuration.
 */
export async function runService<Schema extends TObject>(
  name: string,
  schema: Schema,
  start: (config: Static<Schema>, log: Logger) => Promise<AsyncDisposable>,
) {
  const exit = (error: unknown): never => {
    // One line for the terminal. The log has the error with its stack.
    process.stderr.write(`${name}: ${describeError(error).message}\n`);
    return process.exit(error instanceof ConfigError ? 2 : 1);
  };
  const { env } = process;
  const load = async () => loadConfig(schema, env);
  const config = await load().catch(exit);
  // Valid, because every schema has these settings. Its type does not say so.
  const { LOG_LEVEL, SHUTDOWN_TIMEOUT_MS, ...traces } = loadConfig(Type.Object(processSettings), env);
  const log = createLogger(name, LOG_LEVEL);
  for (const { name: setting, likely } of mistypedSettings(Object.keys(schema.properties), env))
    log.warn({ setting, likely }, 'unknown setting; is one of these meant?');
  const fail = (error: unknown): never => {
    log.fatal({ err: error }, 'fatal error');
    return exit(error);
  };
  // The state of the process is unknown afterwards. Accepted registrations are safe in Postgres.
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const endTraces = await startTraces(name, traces, log).catch(fail);
  let service: AsyncDisposable | undefined;
  let isStopping = false;
  const stop = (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => fail(new Error('did not stop in time')), SHUTDOWN_TIMEOUT_MS).unref();
    // A service that has not started has accepted nothing.
    if (!service) process.exit(0);
    const stopped = service[Symbol.asyncDispose]().then(endTraces);
    void stopped.then(() => process.exit(0), fail);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  process.on('disconnect', () => stop('the parent process is gone'));
  service = await start(config, log).catch(fail);
  if (process.connected) process.send?.('ready');
}
