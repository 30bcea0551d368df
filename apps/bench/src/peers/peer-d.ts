import { Logger, run, runMigrations, type RunnerOptions } from 'graphile-worker';
import type { Logger as Log } from '@floodgate/service';
import { confirmRegistration } from './confirm-registration.ts';
import type { Peer } from './peer.ts';
import { reserveAnd, reserveInOneStatement } from './reserve-seat.ts';

const RESERVE_WITH_JOB = reserveAnd(
  `(graphile_worker.add_job('confirm', json_build_object('serial', serial), max_attempts => 10)).id`,
);

// graphile-worker's settings are those of the performance page in its documentation, with a longer completeJobBatchDelay.
// Tried, in turn on the same machine: 4, 8 and 16 connections for the API, a local queue of 100 with 10 jobs at once, a
// completeJobBatchDelay of 0, 20 and 250 ms, 16 connections for the handlers: all alike, 20 ms a little ahead. With a
// refetchDelay of 20 ms the rate is the same and each job starts later.
export const peer: Peer = {
  connections: { api: 8, worker: 8 },

  prepare: (databaseUrl) => runMigrations({ connectionString: databaseUrl, logger: silentBelowWarning() }),

  openDesk: ({ db }) =>
    Promise.resolve({
      reserve: (seat) => reserveInOneStatement(db, seat, RESERVE_WITH_JOB),
      close: () => Promise.resolve(),
    }),

  startWorker: async ({ config, db, log }) => {
    const options: RunnerOptions = {
      connectionString: config.DATABASE_URL,
      noHandleSignals: true,
      logger: silentBelowWarning(log),
      taskList: { confirm: (payload) => confirmRegistration(db, (payload as { serial: number }).serial) },
      parsedCronItems: [],
      preset: {
        worker: {
          concurrentJobs: 24,
          // Less than concurrentJobs, because the handlers have a separate pool.
          maxPoolSize: 10,
          localQueue: { size: 500 },
          completeJobBatchDelay: 20,
          failJobBatchDelay: 20,
        },
      },
    };
    const runner = await run(options);
    return { close: () => runner.stop() };
  },
};

/** Without this, it logs a line for every job. */
function silentBelowWarning(log?: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log?.warn(message);
  });
}
