import { assertDurable, isCluster, type Database } from '@floodgate/database';
import { defineApi } from '@floodgate/http';
import { job } from '@floodgate/queue';
import { whole } from '@floodgate/service';
import { addBulkRoute } from './bulk/route.ts';
import { createTurns, watchSingleCalls } from './bulk/turns.ts';
import { createChangeGroups, type ChangeGroupsOptions } from './change/change-groups.ts';
import {
  cancelRegistrations,
  confirmRegistrations,
  type Cancellation,
  type NamedRegistration,
} from './change/change-registrations.ts';
import { addChangeRoutes } from './change/routes.ts';
import { createWhyTooLate } from './change/why-too-late.ts';
import { finalizeBatchesJob } from './finalize/job.ts';
import { retentionSettings } from './idempotency/retention.ts';
import { addListRoute } from './list/route.ts';
import { createQueueNotifier } from './register/queue-notifier.ts';
import { createRegistrar } from './register/registrar.ts';
import { addRegisterRoute } from './register/route.ts';
import { addStatusRoute } from './status/route.ts';
import { provoking } from './test-mode/provoke.ts';
import { addResetRoute } from './test-mode/route.ts';

export { addRegisterRoute };

/** Finalization may lag behind by this much under load; the answer to the partner never waits for it. */
const NOTIFY_INTERVAL_MS = 500;
/** Of all shards together. One of them needs two: for a group, and for the fate of the one before. */
const CONNECTIONS = 64;
/** Of large calls at least ten begin in a second, whoever else is served. */
const LARGE_CALL_PATIENCE_MS = 100;
/**
 * Of the time for an answer, the part that a batch may take. The rest is for the word of Postgres to come back: what it gave
 * up was not reserved (90), and without that word nobody knows (91).
 */
const BATCH_SHARE = 2 / 3;

/** Registers attendees and tells how far their registrations are. */
export const registrationsApi = defineApi({
  jobs: [finalizeBatchesJob],
  settings: {
    ...retentionSettings,
    BATCH_LIMIT: whole('registrations in one commit', { minimum: 1, maximum: 5_000, default: 2_000 }),
    WAITING_LIMIT: whole('registrations that may wait for a commit; further ones are answered 90', {
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
    }),
    HOLD_SHARE_PERCENT: whole('percent of a ticket that one partner may hold at a time, at least one seat', {
      minimum: 1,
      maximum: 100,
      default: 20,
    }),
  },
  async open({ log, reads, recent, shardReads, openPool, producer, answerWithinMs }, settings) {
    // Apart from the reads, which can so never make a reservation wait for a connection.
    const db = openPool({
      purpose: 'reserve',
      maxConnections: CONNECTIONS,
      statementTimeoutMs: Math.round(answerWithinMs * BATCH_SHARE),
    });
    const resets = openPool({ purpose: 'reset', maxConnections: 1, statementTimeoutMs: answerWithinMs });
    const notifier = createQueueNotifier((batches) => {
      // Not awaited and allowed to fail: the batch row is the outbox, and the relay tells the queue again.
      producer.enqueue(job(finalizeBatchesJob, batches)).catch(() => {});
    }, NOTIFY_INTERVAL_MS);
    const grouping = {
      isCluster: await isCluster(db),
      log,
      groupLimit: settings.BATCH_LIMIT,
      waitingLimit: settings.WAITING_LIMIT,
      answerWithinMs,
    };
    const changes = openChanges(db, grouping);
    const singleCalls = watchSingleCalls(
      createRegistrar({
        ...grouping,
        db,
        retentionHours: settings.IDEMPOTENCY_RETENTION_HOURS,
        holdSharePercent: settings.HOLD_SHARE_PERCENT,
        onCommitted: notifier.notify,
      }),
    );
    const registrar = provoking(singleCalls.registrar);
    const turns = createTurns({
      isShared: singleCalls.areServed,
      patienceMs: LARGE_CALL_PATIENCE_MS,
      answerWithinMs,
    });
    await assertDurable(db);
    return {
      routes(api) {
        addRegisterRoute(api, registrar);
        addBulkRoute(api, registrar, turns);
        addChangeRoutes(api, changes, createWhyTooLate(reads, shardReads));
        addResetRoute(api, { db: resets, cancellations: changes.cancellations, answerWithinMs });
        addStatusRoute(api, reads, shardReads);
        addListRoute(api, { reads, recent, answerWithinMs });
      },
      async close() {
        await Promise.all([registrar, ...Object.values(changes)].map((groups) => groups.drain()));
        notifier.flush();
      },
    };
  },
});

/** Opens the groups that cancel and confirm. */
function openChanges(db: Database, grouping: ChangeGroupsOptions) {
  return {
    cancellations: createChangeGroups(grouping, (shardId, some: readonly Cancellation[], lockWithinMs) =>
      cancelRegistrations(db, shardId, some, lockWithinMs),
    ),
    confirmations: createChangeGroups(grouping, (shardId, some: readonly NamedRegistration[], lockWithinMs) =>
      confirmRegistrations(db, shardId, some, lockWithinMs),
    ),
  };
}
