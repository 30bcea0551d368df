import { inEachShard, rememberShards } from '@floodgate/database';
import { defineWorker } from '@floodgate/queue';
import { holdShareSettings } from '@floodgate/registrations';
import { serveWaitingLists } from './waiting-list.ts';

/**
 * How soon the seats of a raised capacity are offered. Freed seats are offered immediately, by the
 * transaction that frees them.
 */
const INTERVAL_MS = 250;
/** Entries of a list in one transaction. It keeps the ticket locked. */
const SERVED_PER_STATEMENT = 1_000;

/** The worker's task for waiting lists. */
export const waitingListWorker = defineWorker({
  settings: holdShareSettings,
  open({ db, config }) {
    const shards = rememberShards(db);
    const serve = async (shardId: number) =>
      (await serveWaitingLists(db, shardId, SERVED_PER_STATEMENT, config.HOLD_SHARE_PERCENT)) > 0;
    return {
      jobs: [],
      tasks: [{ name: 'waiting lists', intervalMs: INTERVAL_MS, run: () => inEachShard(db, serve, shards) }],
    };
  },
});
