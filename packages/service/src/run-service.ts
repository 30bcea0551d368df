import { Type, type Static, type TObject } from '@sinclair/typebox';
import { ConfigError } from './failure.ts';
import { loadConfig, whole } from './load-config.ts';
import { createLogger, describeError, type Logger } from './log.ts';
import { mistypedSettings } from './mistyped-settings.ts';

export const processSettings = {
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info', description: 'fatal, error, warn, info, debug, trace or silent' },
  ),
  SHUTDOWN_TIMEOUT_MS: whole('how long a stop may take', [100, 600_000], 10_000),
};

/**
 * Runs a service as this process: configuration from the environment, a logger, and an orderly stop on a signal, which disposes of the
 * service: running work is finished first. A parent that holds
 * an IPC channel is sent "ready" after the start; when it goes away, the service stops. Exit codes: 0 stopped in order, 1 failed or did not stop in time, 2 wrong configuration.
 */
export async function runService<Schema extends TObject>(
  name: string,
  schema: Schema,
  start: (config: Static<Schema>, log: Logger) => Promise<AsyncDisposable>,
): Promise<void> {
  const exit = (error: unknown): never => {
    // One clear line for a person at a terminal. The log gets the error with its stack.
    process.stderr.write(`${name}: ${describeError(error).message}\n`);
    return process.exit(error instanceof ConfigError ? 2 : 1);
  };
  const config = await Promise.resolve(process.env)
    .then((env) => loadConfig(schema, env))
    .catch(exit);
  const { LOG_LEVEL, SHUTDOWN_TIMEOUT_MS } = config as unknown as Static<TObject<typeof processSettings>>;
  const log = createLogger(name, LOG_LEVEL);
  for (const { name: setting, likely } of mistypedSettings(Object.keys(schema.properties), process.env))
    log.warn({ setting, likely }, 'this variable is no setting of Floodgate; is another name meant?');
  const fail = (error: unknown): never => {
    log.fatal({ err: error }, 'the process ends');
    return exit(error);
  };
  // After either, the state of the process is unknown; everything that was accepted is safe in Postgres.
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  let service: AsyncDisposable | undefined;
  let isStopping = false;
  const stop = (reason: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => fail(new Error('did not stop in time')), SHUTDOWN_TIMEOUT_MS).unref();
    // Before it has started nothing was accepted yet.
    if (service) void service[Symbol.asyncDispose]().then(() => process.exit(0), fail);
    else process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  process.on('disconnect', () => stop('the parent process is gone'));
  service = await start(config, log).catch(fail);
  if (process.connected) process.send?.('ready');
}
