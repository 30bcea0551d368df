// The worker process of a peer: confirms one registration for each job.
import { connect } from '@floodgate/database';
import { runService, type Logger } from '@floodgate/service';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { CompiledQuery } from 'kysely';
import {
  CONCURRENCY,
  logErrors,
  PeerConfig,
  QUEUE_NAME,
  WORKER_CONNECTIONS,
  WORKER_OPTIONS,
  type ConfirmJob,
} from './peer.ts';

/** Idempotent: a confirmed registration does not change. */
const CONFIRM = `
  update peer_registrations set state = 'confirmed', finished_at = clock_timestamp()
  where serial = $1::bigint and state = 'pending'`;

await runService('peer-worker', PeerConfig, start);

async function start(config: PeerConfig, log: Logger): Promise<AsyncDisposable> {
  const db = connect({
    connectionString: config.DATABASE_URL,
    applicationName: 'peer-worker',
    maxConnections: WORKER_CONNECTIONS,
    prepareStatements: true,
    // A burst of jobs may wait for a connection: a timeout would only cause a retry.
    connectTimeoutMs: 30_000,
  });
  const redis = new Redis(config.QUEUE_URL, { maxRetriesPerRequest: null });
  const confirm = ({ data }: { data: ConfirmJob }) =>
    db.executeQuery(CompiledQuery.raw(CONFIRM, [data.serial]));
  const worker = new Worker<ConfirmJob>(QUEUE_NAME, async (job) => void (await confirm(job)), {
    ...WORKER_OPTIONS,
    connection: redis,
    concurrency: CONCURRENCY,
  });
  redis.on('error', logErrors(log));
  worker.on('error', logErrors(log));
  worker.on('failed', (_, err) => log.warn({ err }, 'a job failed'));
  await worker.waitUntilReady();
  log.info('working');
  return {
    [Symbol.asyncDispose]: async () => {
      await worker.close();
      redis.disconnect();
      await db.destroy();
    },
  };
}
