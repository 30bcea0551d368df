import { fromKysely, PgBoss } from 'pg-boss';
import { confirmRegistrations } from './confirm-registration.ts';
import type { Peer } from './peer.ts';
import { reserveInOneStatement } from './reserve-seat.ts';

const QUEUE = 'confirm';

interface ConfirmJob {
  serial: number;
}

// Tried, in turn on the same machine: 4, 8 and 16 connections for the API (8 and 16 are alike); NOTIFY besides polling,
// with which jobs start within 10 ms instead of 250 but a third of the rate is lost, because Postgres commits transactions
// that notify one after the other; a partition for the queue (no gain); batches of 200 and of 1,000 jobs, one and two
// loops that fetch (alike).
export const peer: Peer = {
  connections: { api: 8, worker: 4 },

  prepare: async (databaseUrl) => {
    const boss = new PgBoss({ connectionString: databaseUrl, max: 1, supervise: false, schedule: false });
    boss.on('error', () => {});
    await boss.start();
    await boss.createQueue(QUEUE, {
      retryLimit: 9,
      retryDelay: 1,
      retryBackoff: true,
    });
    await boss.stop();
  },

  openDesk: async ({ config, db, log }) => {
    const boss = new PgBoss({
      connectionString: config.DATABASE_URL,
      // Only for looking up queues: jobs are sent on the connection of their transaction.
      max: 1,
      migrate: false,
      supervise: false,
      schedule: false,
    });
    boss.on('error', (err) => log.warn({ err }, 'pg-boss'));
    await boss.start();
    return {
      reserve: (seat) =>
        db.transaction().execute(async (transaction) => {
          const outcome = await reserveInOneStatement(transaction, seat);
          if (outcome.kind === 'registered')
            await boss.send(QUEUE, { serial: outcome.serial }, { db: fromKysely(transaction) });
          return outcome;
        }),
      close: () => boss.stop(),
    };
  },

  startWorker: async ({ config, db, log }) => {
    const boss = new PgBoss({
      connectionString: config.DATABASE_URL,
      migrate: false,
      schedule: false,
    });
    boss.on('error', (err) => log.warn({ err }, 'pg-boss'));
    await boss.start();
    const options = {
      batchSize: 200,
      localConcurrency: 2,
      // The minimum. It does not wait while batches are full.
      pollingIntervalSeconds: 0.5,
      burstWhenBatchFull: true,
    };
    // pg-boss recommends this for many small jobs: the handler processes a whole batch in one statement.
    await boss.work<ConfirmJob>(QUEUE, options, (jobs) =>
      confirmRegistrations(
        db,
        jobs.map(({ data }) => data.serial),
      ),
    );
    return { close: () => boss.stop() };
  },
};
