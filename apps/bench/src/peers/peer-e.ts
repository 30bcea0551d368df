import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import { Client } from 'pg';
import { JOB_OPTIONS, QUEUE_NAME, WORKER_OPTIONS, type ConfirmJob } from './bullmq-jobs.ts';
import { confirmRegistration } from './confirm-registration.ts';
import type { Peer, PeerConfig } from './peer.ts';
import { reserveInOneStatement } from './reserve-seat.ts';

const SCHEMA = 'peer_queue';

const connectionOf = ({ QUEUE_URL }: PeerConfig, max: number) => ({
  connectionString: QUEUE_URL,
  schema: SCHEMA,
  max,
  keepAlive: true,
});

// Tried: 4 and 8 connections of the API for reserving (alike) with 4, 8 and 16 for adding jobs (16 a little faster); 4, 8, 16
// and 32 jobs at once: 8 has the shortest waits and is no slower than the others.
const ADD_CONNECTIONS = 16;
const WORKER_CONNECTIONS = 8;
const CONCURRENCY = 8;

export const peer: Peer = {
  connections: { api: 8, worker: 8 },

  prepare: async (databaseUrl) => {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      await client.end();
    }
  },

  openDesk: async ({ config, db, log }) => {
    const queue = new Queue(
      QUEUE_NAME,
      { connection: connectionOf(config, ADD_CONNECTIONS), defaultJobOptions: JOB_OPTIONS },
      createPostgresBackend,
    );
    queue.on('error', (err: Error) => log.warn({ err }, 'queue connection'));
    await queue.waitUntilReady();
    return {
      reserve: async (seat) => {
        const outcome = await reserveInOneStatement(db, seat);
        // Awaited as on Redis, because there is no outbox. BullMQ adds the job on its own connection, not in our transaction.
        if (outcome.kind === 'registered') await queue.add('confirm', { serial: outcome.serial });
        return outcome;
      },
      close: () => queue.close(),
    };
  },

  startWorker: async ({ config, db, log }) => {
    const worker = new Worker(
      QUEUE_NAME,
      (job) => confirmRegistration(db, (job.data as ConfirmJob).serial),
      { ...WORKER_OPTIONS, connection: connectionOf(config, WORKER_CONNECTIONS), concurrency: CONCURRENCY },
      createPostgresBackend,
    );
    worker.on('error', (err: Error) => log.warn({ err }, 'queue connection'));
    worker.on('failed', (_, err) => log.warn({ err }, 'a job failed'));
    await worker.waitUntilReady();
    return { close: () => worker.close() };
  },
};
