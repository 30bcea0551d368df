// The API process of a peer: exactly Floodgate's HTTP side, with the peer's way of registering.
import { connect, readAtOnce, type Database } from '@floodgate/database';
import { buildApi, type ApiContext, type Routes } from '@floodgate/http';
import { partnersApi } from '@floodgate/partners/api';
import { addRegisterRoute } from '@floodgate/registrations';
import { runService, type Logger } from '@floodgate/service';
import { ticketsApi } from '@floodgate/tickets/api';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { JOB_OPTIONS, logErrors, PeerConfig, PEERS, QUEUE_NAME, type ConfirmJob } from './peer.ts';
import { registerWith } from './reserve-seat.ts';

/**
 * The time limit of a registration in Floodgate. A request that has no connection in this time is answered
 * 90.
 */
const CONNECT_TIMEOUT_MS = 3_000;
const READ_CONNECTIONS = 4;

await runService('peer-api', PeerConfig, start);

async function start(config: PeerConfig, log: Logger): Promise<AsyncDisposable> {
  const peer = PEERS[config.PEER];
  const db = openPool(config, 'peer-api reserve', peer.connections);
  const reads = openPool(config, 'peer-api', READ_CONNECTIONS);
  // BullMQ recommends this for producers: fail immediately while Redis is down. Pipelining is slightly
  // faster.
  const redis = new Redis(config.QUEUE_URL, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
  });
  const queue = new Queue<ConfirmJob>(QUEUE_NAME, { connection: redis, defaultJobOptions: JOB_OPTIONS });
  redis.on('error', logErrors(log));
  queue.on('error', logErrors(log));
  await queue.waitUntilReady();
  const registrations: Parameters<typeof addRegisterRoute>[1] = {
    submit: registerWith(async (seat) => {
      const outcome = await peer.reserve(db, seat);
      // Awaited before the answer: without an outbox, an answered registration without a job would never be
      // confirmed.
      if (outcome.kind === 'registered') await queue.add('confirm', { serial: outcome.serial });
      return outcome;
    }),
    refuseWhenFull: (_request, _reply, done) => done(),
    refuse: (_request, reply, code) => reply.fail(code, { retryAfterSeconds: 1 }),
  };
  const context = contextOf(log, reads);
  const capabilities = [
    await partnersApi.open(context, {}),
    { routes: (api: Routes) => addRegisterRoute(api, registrations) },
    await ticketsApi.open(context, {}),
  ];
  const app = await buildApi({
    log,
    reads,
    queue: { problem: () => null },
    closeWithinMs: 1_000,
    capabilities,
  });
  log.info(`listening at ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
  return {
    [Symbol.asyncDispose]: async () => {
      await app.close();
      await queue.close();
      redis.disconnect();
      await Promise.all([db.destroy(), reads.destroy()]);
    },
  };
}

function contextOf(log: Logger, reads: Database): ApiContext {
  return {
    log,
    reads,
    shardReads: readAtOnce,
    openPool: () => reads,
    producer: { enqueue: () => Promise.resolve() },
    answerWithinMs: CONNECT_TIMEOUT_MS,
    readWithinMs: CONNECT_TIMEOUT_MS,
  };
}

function openPool(config: PeerConfig, applicationName: string, maxConnections: number): Database {
  return connect({
    connectionString: config.DATABASE_URL,
    applicationName,
    maxConnections,
    prepareStatements: true,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
}
