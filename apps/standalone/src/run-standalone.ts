import { once } from 'node:events';
import path from 'node:path';
import { connect, type ServiceName } from '@floodgate/database';
import { startPostgres, type PostgresServer } from '@floodgate/embedded-postgres';
import type { StandaloneConfig } from './config.ts';
import { openDataDir, writePrivateFile } from './data-dir.ts';
import { ensureDemo, welcome } from './demo.ts';
import { prepareDatabase } from './prepare-database.ts';
import { claimPort, startServices, unexpectedEnd } from './services.ts';

/** Receivers of webhooks are on this machine, too. */
const DEVELOPMENT = { WEBHOOK_ALLOW_PRIVATE: 'true' };
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
/** E-mails that can be looked at. */
const MAILCATCHER_SIZE = '500';

interface Setup {
  config: StandaloneConfig;
  /** Absolute. */
  directory: string;
  /** The environment that all of them inherit. */
  env: NodeJS.ProcessEnv;
  /** The arguments of Node.js for a service: flags, then a file. */
  programOf: (service: ServiceName) => string[];
  print: (text: string) => void;
}

/**
 * Runs Floodgate until `stop` is aborted: from outside, or because one of the processes ended. Always throws:
 * the reason of that, or why the start failed. By then everything that was started has been stopped, Postgres last.
 */
export async function runStandalone(setup: Setup, stop: AbortController): Promise<never> {
  const { config, directory, programOf, print } = setup;
  const host = config.HOST;
  // Each of these is disposed of in reverse order, on whatever way out.
  await using opened = new AsyncDisposableStack();
  const { wasAbandoned } = opened.use(await openDataDir(directory));
  const port = await claimPort(config.PORT, host, wasAbandoned);
  const url = config.DATABASE_URL ?? opened.use(await startOwnPostgres(directory, stop)).url();
  const { QUEUE_URL = url, QUEUE_NAMESPACE } = config;
  const connection = { DATABASE_URL: url, QUEUE_URL, QUEUE_NAMESPACE };
  const baseUrl = `http://${hostToCall(host)}:${port}`;
  const demoFile = path.join(directory, 'demo.json');
  const options = { connectionString: url, applicationName: 'floodgate-standalone', maxConnections: 2 };
  await using db = connect({ ...options, connectTimeoutMs: 5_000 });
  const connections = await prepareDatabase(db, connection, !config.DATABASE_URL);
  const demo = await ensureDemo(db, demoFile, baseUrl);
  // For the operator's command, in a shell: the embedded server's port and password are not to be guessed. A quote in a URL
  // becomes %27, which means the same to every reader.
  const variables = Object.entries({ ...connection, ...DEVELOPMENT }).map(
    ([name, text]) => `${name}='${text.replaceAll("'", '%27')}'\n`,
  );
  const connectionFile = path.join(directory, 'connection.env');
  await writePrivateFile(connectionFile, variables.join(''));
  const deliveryPort = await claimDeliveryPort(config, wasAbandoned);
  // Each service reads its own settings of these.
  const shared = {
    ...setup.env,
    ...DEVELOPMENT,
    HOST: host,
    PORT: String(port),
    // The page at /docs shows the demo's key, so only to this machine.
    DEMO_FILE: LOOPBACK.includes(host) ? demoFile : '',
    WORKER_PORT: String(config.WORKER_PORT),
    DELIVERY_HOST: host,
    DELIVERY_PORT: String(deliveryPort),
    // A server for e-mails is for who has named one. Else they are kept here, to be looked at.
    MAILCATCHER_SIZE: setup.env['MAILCATCHER_SIZE'] || MAILCATCHER_SIZE,
  };
  const envOf = (service: ServiceName) => ({ ...shared, ...connections[service] });
  stop.signal.throwIfAborted();
  await opened.use(startServices({ programOf, envOf, stop })).apiIsReady;
  const mailcatcherUrl = setup.env['SMTP_URL']
    ? null
    : `http://${hostToCall(host)}:${deliveryPort}/mailcatcher`;
  print(welcome(demo, { demoFile, connectionFile }, mailcatcherUrl));
  await once(stop.signal, 'abort');
  throw stop.signal.reason;
}

async function startOwnPostgres(directory: string, stop: AbortController): Promise<PostgresServer> {
  const logFile = path.join(directory, 'postgres.log');
  const postgres = await startPostgres({
    dataDir: path.join(directory, 'postgres'),
    logFile,
    // Else it quotes the rows that it refuses.
    settings: { log_error_verbosity: 'terse' },
    signal: stop.signal,
  });
  void postgres.exited.then((exit) => stop.abort(unexpectedEnd('Postgres', exit, ` (log: ${logFile})`)));
  return postgres;
}

/** Near the API's port, so that it is the same each time. A taken port keeps nobody from starting who did not ask for it. */
function claimDeliveryPort({ DELIVERY_PORT, PORT, HOST }: StandaloneConfig, wasAbandoned: boolean) {
  if (DELIVERY_PORT !== 0) return claimPort(DELIVERY_PORT, HOST, wasAbandoned);
  return claimPort(PORT && PORT + 2, HOST, wasAbandoned).catch(() => claimPort(0, HOST));
}

/** Where a host that means every address is reached from here. */
function hostToCall(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
