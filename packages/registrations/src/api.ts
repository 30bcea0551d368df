import { assertDurable, isCluster, shardLoader } from '@floodgate/database';
import { defineApi, type ApiContext } from '@floodgate/http';
import { whole } from '@floodgate/service';
import { addBulkRoute } from './bulk/route.ts';
import { createChangeGroups, createTogetherGroups } from './change/change-registrations.ts';
import { createReplacementGroups } from './change/replace-attendee.ts';
import {
  addAttendeeRoute,
  addCancelAllRoute,
  addCancelRoute,
  addConfirmRegistrationRoute,
} from './change/routes.ts';
import { createQueueNotifier, finalizeEnqueuer, finalizeSettings } from './finalize/queue-notifier.ts';
import { createHoldGroups, createOrderGroups } from './holds/change-holds.ts';
import { findTaken, type TakenQuery } from './holds/duplicates.ts';
import { findHolds, type HoldQuery } from './holds/find-holds.ts';
import { addHoldRoutes } from './holds/routes.ts';
import { DEFAULT_HOLD_LIMIT_SECONDS, holdShareSettings } from './holds/settings.ts';
import { retentionSettings } from './idempotency/expired-keys.ts';
import { addListRoute } from './list/route.ts';
import { openRegistrations, type RegistrationsOptions } from './register/commit-batch.ts';
import { addRegisterRoute } from './register/route.ts';
import { findRegistrations, type RegistrationQuery } from './status/find-registrations.ts';
import { addStatusRoute } from './status/route.ts';
import { addResetRoute } from './test-mode/reset-event.ts';

/** How long finalization may lag under load. Answers do not wait for it. */
const NOTIFY_INTERVAL_MS = 500;

/** The API's part of registrations: makes, changes and reads them. */
export const registrationsApi = defineApi({
  settings: {
    ...retentionSettings,
    ...finalizeSettings,
    BATCH_LIMIT: whole('registrations in one commit', [1, 5_000], 2_000),
    WAITING_LIMIT: whole(
      'registrations that may wait for a commit; further ones are answered 90',
      [1, 1_000_000],
      10_000,
    ),
    ...holdShareSettings,
    HOLD_LIMIT_SECONDS: whole('longest hold, with its extensions', [60, 604_800], DEFAULT_HOLD_LIMIT_SECONDS),
  },
  async open({ log, metrics, reads, shardReads, openPool, producer, answerWithinMs, clock }, settings) {
    // Separate from the reads, so that a reservation never waits for a connection that a read uses.
    const db = openPool({
      purpose: 'reserve',
      // For all shards. A shard needs two: one for a group, and one for the repeat of a lost group.
      maxConnections: 64,
      // The rest of the answer time is for the error of Postgres to arrive. If it arrives, nothing was
      // reserved (90). If it does not, the outcome is unknown (91).
      statementTimeoutMs: Math.round((answerWithinMs * 2) / 3),
    });
    const resets = openPool({ purpose: 'reset', maxConnections: 1, statementTimeoutMs: answerWithinMs });
    const notifier = createQueueNotifier(finalizeEnqueuer(producer, settings), NOTIFY_INTERVAL_MS, clock);
    const options = {
      db,
      log,
      isCluster: await isCluster(db),
      groupLimit: settings.BATCH_LIMIT,
      waitingLimit: settings.WAITING_LIMIT,
      answerWithinMs,
      // Groups of other APIs hold a row lock for less time. `lock_timeout` applies per wait, and there can be
      // two (queue, then row). Both must fit into the time of a batch.
      lockWithinMs: Math.round(answerWithinMs / 4),
      retentionHours: settings.IDEMPOTENCY_RETENTION_HOURS,
      holdSharePercent: settings.HOLD_SHARE_PERCENT,
      holdLimitSeconds: settings.HOLD_LIMIT_SECONDS,
      onCommitted: notifier.notify,
      clock,
    };
    const groups = openGroups(options, metrics);
    const { register } = groups;
    const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
      findRegistrations(reads, queries),
    );
    const findHold = shardLoader(shardReads, (queries: HoldQuery[]) => findHolds(reads, queries));
    const findTakenDigests = shardLoader(shardReads, (queries: TakenQuery[]) => findTaken(reads, queries));
    const holds = { ...groups, reads, findHold, findTaken: findTakenDigests, answerWithinMs, clock };
    await assertDurable(db);
    return {
      facts: () => ({ waiting: register.waiting() }),
      routes(api) {
        addRegisterRoute(api, register);
        addBulkRoute(api, register, answerWithinMs, clock);
        addStatusRoute(api, findRegistration);
        addListRoute(api, reads, answerWithinMs, clock);
        addConfirmRegistrationRoute(api, groups.confirm, findRegistration);
        addCancelRoute(api, groups.cancel, findRegistration);
        addCancelAllRoute(api, groups.cancelTogether, findRegistration);
        addAttendeeRoute(api, groups.replace, findRegistration);
        addHoldRoutes(api, holds);
        // A test event begins again, also after a rehearsal at its doors.
        const cancels = createChangeGroups(options, 'cancelled', true);
        addResetRoute(api, resets, cancels, answerWithinMs, clock);
      },
      async close() {
        await Promise.all(Object.values(groups).map((group) => group.drain()));
        notifier.flush();
      },
    };
  },
});

/** The names that metrics give to the groups. */
const KINDS = {
  register: 'register',
  replace: 'replace',
  cancel: 'cancel',
  cancelTogether: 'cancel together',
  confirm: 'confirm',
  confirmHold: 'confirm hold',
  confirmOrder: 'confirm holds',
  extendHold: 'extend hold',
  releaseHold: 'release hold',
} as const;
type GroupName = keyof typeof KINDS;

/** Opens the groups that commit the requests of partners. */
function openGroups(options: RegistrationsOptions, metrics: ApiContext['metrics']) {
  const onGroup = recordGroups(metrics);
  const named = (name: GroupName) => ({ ...options, onGroup: onGroup(KINDS[name]) });
  const groups = {
    register: openRegistrations(named('register')),
    replace: createReplacementGroups(named('replace')),
    cancel: createChangeGroups(named('cancel'), 'cancelled'),
    cancelTogether: createTogetherGroups(named('cancelTogether')),
    confirm: createChangeGroups(named('confirm'), 'confirmed'),
    confirmHold: createHoldGroups(named('confirmHold'), 'confirmed'),
    confirmOrder: createOrderGroups(named('confirmOrder')),
    extendHold: createHoldGroups(named('extendHold'), 'extended'),
    releaseHold: createHoldGroups(named('releaseHold'), 'released'),
  };
  const names = Object.keys(KINDS) as GroupName[];
  metrics?.figures(() => Promise.resolve(names), {
    waiting: {
      help: 'Registrations that wait for a commit',
      labels: ['kind'],
      samples: (all) => all.map((name) => [{ kind: KINDS[name] }, groups[name].waiting()]),
    },
  });
  return groups;
}

const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Returns what records the committed groups of a kind. */
function recordGroups(metrics: ApiContext['metrics']) {
  if (!metrics) return () => undefined;
  const kind = ['kind'];
  const size = metrics.histogram(
    'group_registrations',
    'Registrations that a group decided, sold or refused',
    SIZES,
    kind,
  );
  const took = metrics.histogram(
    'group_seconds',
    'Time from the start of a group to its commit',
    SECONDS,
    kind,
  );
  return (name: string) => (units: number, tookMs: number) => {
    size.observe({ kind: name }, units);
    took.observe({ kind: name }, tookMs / 1_000);
  };
}
