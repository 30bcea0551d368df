import { once } from 'node:events';
import path from 'node:path';
import { connect, type ServiceName } from '@floodgate/database';
import { startPostgres } from '@floodgate/embedded-postgres';
import type { StandaloneConfig } from './config.ts';
import { openDataDir, writePrivateFile } from './data-dir.ts';
import { ensureDemo, welcome } from './demo.ts';
import { prepareDatabase } from './prepare-database.ts';
import { claimPort, startServices, unexpectedEnd } from './services.ts';

/** Allows webhook receivers on this machine. */
const DEVELOPMENT = { WEBHOOK_ALLOW_PRIVATE: 'true' };
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
/** Number of e-mails that the mailcatcher keeps. */
const MAILCATCHER_SIZE = '500';

interface Setup {
  config: StandaloneConfig;
  /** Absolute. */
  directory: string;
  /** The environment that all services inherit. */
  env: NodeJS.ProcessEnv;
  /** Returns Node.js's arguments for a service: flags, then a file. */
  programOf: (service: ServiceName) => string[];
  print: (text: string) => void;
}

/**
 * Runs Floodgate until `stop` is aborted by the caller or because a process ended. Then stops everything that
 * was started, Postgres last. Always throws: the reason of the abort, or the failure of the start.
 */
export async function runStandalone(setup: Setup, stop: AbortController): Promise<never> {
  const { config, directory, programOf, print } = setup;
  const host = config.HOST;
  // Disposed of in reverse order, whether this ends by a stop or a failure.
  await using opened = new AsyncDisposableStack();
  const { wasAbandoned } = opened.use(await openDataDir(directory));
  const claim = (port: number) => claimPort(port, host, wasAbandoned);
  // Prefers a port near the API's, so that it stays the same. Takes any other port if that one is in use and
  // was not requested.
  const claimNear = (asked: number, distance: number) =>
    asked ? claim(asked) : claim(config.PORT && config.PORT + distance).catch(() => claim(0));
  const port = await claim(config.PORT);
  const url = config.DATABASE_URL ?? opened.use(await startOwnPostgres(directory, stop)).url();
  const { QUEUE_URL = url, QUEUE_NAMESPACE } = config;
  const connection = { DATABASE_URL: url, QUEUE_URL, QUEUE_NAMESPACE };
  const urlOf = (open: number) => `http://${hostToCall(host)}:${open}`;
  const demoFile = path.join(directory, 'demo.json');
  await using db = connect({
    connectionString: url,
    applicationName: 'floodgate-standalone',
    maxConnections: 2,
    connectTimeoutMs: 5_000,
  });
  const connections = await prepareDatabase(db, connection, !config.DATABASE_URL);
  const demo = await ensureDemo(db, demoFile, urlOf(port));
  // For the operator's command in a shell, which cannot know the embedded server's port and password. A quote
  // in a URL is written as %27, which is equivalent.
  const lines = Object.entries({ ...connection, ...DEVELOPMENT }).map(
    ([name, text]) => `${name}='${text.replaceAll("'", '%27')}'\n`,
  );
  const connectionFile = path.join(directory, 'connection.env');
  await writePrivateFile(connectionFile, lines.join(''));
  const deliveryPort = await claimNear(config.DELIVERY_PORT, 2);
  const consolePort = await claimNear(config.CONSOLE_PORT, 3);
  // Each service reads only its own settings.
  const shared = {
    ...setup.env,
    ...DEVELOPMENT,
    HOST: host,
    PORT: String(port),
    // The page at /docs shows the demo's key, so only this machine may see it.
    DEMO_FILE: LOOPBACK.includes(host) ? demoFile : '',
    WORKER_HOST: host,
    WORKER_PORT: String(config.WORKER_PORT),
    DELIVERY_HOST: host,
    DELIVERY_PORT: String(deliveryPort),
    CONSOLE_HOST: host,
    CONSOLE_PORT: String(consolePort),
    // The API serves the page of the scanner. Devices elsewhere need another address, over HTTPS.
    DOOR_URL: setup.env['DOOR_URL'] || `${urlOf(port)}/door/`,
    // Without SMTP_URL, the mailcatcher keeps the e-mails.
    MAILCATCHER_SIZE: setup.env['MAILCATCHER_SIZE'] || MAILCATCHER_SIZE,
  };
  const envOf = (service: ServiceName) => ({
    ...shared,
    ...connections[service],
    // API and console listen on the same address, so only one of them can have this port.
    ...(service === 'console' && { METRICS_PORT: '' }),
  });
  stop.signal.throwIfAborted();
  await opened.use(startServices({ programOf, envOf, stop, print })).apiIsReady;
  const mailUrl = setup.env['SMTP_URL'] ? null : `${urlOf(deliveryPort)}/mailcatcher`;
  print(welcome(demo, { demoFile, connectionFile }, { mailUrl, consoleUrl: urlOf(consolePort) }));
  await once(stop.signal, 'abort');
  throw stop.signal.reason;
}

async function startOwnPostgres(directory: string, stop: AbortController) {
  const logFile = path.join(directory, 'postgres.log');
  const postgres = await startPostgres({
    dataDir: path.join(directory, 'postgres'),
    logFile,
    // By default, Postgres logs the rows that it refuses.
    settings: { log_error_verbosity: 'terse' },
    signal: stop.signal,
  });
  const name = `Postgres (log: ${logFile})`;
  void postgres.exited.then((exit) => stop.abort(unexpectedEnd(name, exit)));
  return postgres;
}

/** Returns the host for a URL. A host that means every address becomes the loopback address. */
function hostToCall(host: string) {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
