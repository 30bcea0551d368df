import type { Database } from '@floodgate/database';
import { defineWorker } from '@floodgate/queue';
import { whole } from '@floodgate/service';
import { readBacklog } from './finalize/batch-statements.ts';
import { finalizeBatches } from './finalize/finalize-batches.ts';
import { finalizeBatchesJob } from './finalize/job.ts';
import { relayDueBatches } from './finalize/relay.ts';
import { deleteExpiredIdempotencyKeys } from './idempotency/expired-keys.ts';

const EXPIRY_INTERVAL_MS = 60_000;
/** Idempotency keys that one statement deletes: few, so that it never holds anything up. */
const KEYS_PER_ROUND = 1_000;

/** What the worker does for registrations. */
export const registrationsWorker = defineWorker({
  jobs: [finalizeBatchesJob],
  settings: {
    RELAY_INTERVAL_MS: whole('how often the outbox is looked through', {
      minimum: 50,
      maximum: 60_000,
      default: 1_000,
    }),
  },
  open: ({ db, log, producer, config }) => ({
    handlers: { 'finalize-batches': finalizeBatches({ db, log }) },
    rounds: [
      { name: 'relay', intervalMs: config.RELAY_INTERVAL_MS, run: () => relayDueBatches(db, producer) },
      { name: 'expiry', intervalMs: EXPIRY_INTERVAL_MS, run: () => expireKeys(db) },
    ],
    backlogs: { finalize: () => readBacklog(db) },
  }),
});

async function expireKeys(db: Database): Promise<'more' | 'done'> {
  return (await deleteExpiredIdempotencyKeys(db, KEYS_PER_ROUND)) === KEYS_PER_ROUND ? 'more' : 'done';
}
