import { Counter, type Registry } from '@prometheus-io/client';
import { inEachShard, type Database } from '@floodgate/database';
import { advanceIdleConsumers, defineDelivery, runConsumers } from '@floodgate/journal';
import { whole, type Logger } from '@floodgate/service';
import { checkedAgent, type Reach } from './checked-agent.ts';
import type { Resolve } from './resolve-outside.ts';
import { createDelivery, type DeliverOptions } from './deliver.ts';
import { expireAttempts } from './endpoint-to-deliver.ts';
import { createTestSender } from './send-tests.ts';
import { allowPrivateSetting } from './settings.ts';

const LOOK_INTERVAL_MS = 200;
const TEST_INTERVAL_MS = 500;
const EXPIRY_INTERVAL_MS = 600_000;
/** Far below the retention of the journal, which is a day at least. */
const IDLE_INTERVAL_MS = 3_600_000;
const ATTEMPT_DAYS = 30;

/** Returns what opens the capability. Tests say what names stand for. */
export const webhookDelivery = (resolve?: Resolve) =>
  defineDelivery({
    kind: 'webhook',
    settings: {
      ...allowPrivateSetting,
      WEBHOOK_SLOTS: whole('webhooks that are served at once; those that answer slowly may be half of them', {
        minimum: 2,
        maximum: 1_000,
        default: 50,
      }),
    },
    open({ db, log, metrics, config }) {
      const isDevelopment = config.WEBHOOK_ALLOW_PRIVATE === 'true';
      const agentFor = (reach: Reach) => checkedAgent(reach, resolve);
      const agents = { live: agentFor(isDevelopment ? 'any' : 'public'), test: agentFor('private') };
      // A test event never tells anybody outside: only who is on the same machine or network may hear of it, in development.
      const dispatcherOf: DeliverOptions['dispatcherOf'] = (mode) =>
        mode === 'test' && !isDevelopment ? null : agents[mode];
      const onAttempt = countAttempts(metrics);
      const consumers = runConsumers({
        db,
        kind: 'webhook',
        slots: config.WEBHOOK_SLOTS,
        onError: (err, { id }) =>
          log.warn({ err, webhook: id }, 'a turn of a webhook failed; it is repeated'),
        turn: createDelivery({
          db,
          dispatcherOf,
          slowSlots: Math.floor(config.WEBHOOK_SLOTS / 2),
          onAttempt,
          onGivenUp: warnOfGivenUp(log),
        }),
      });
      const tests = createTestSender({
        db,
        dispatcherOf,
        onAttempt,
        onError: (err, id) => log.warn({ err, webhook: id }, 'a test of a webhook failed'),
      });
      const rounds = [
        { name: 'webhooks', intervalMs: LOOK_INTERVAL_MS, run: consumers.look },
        { name: 'webhook tests', intervalMs: TEST_INTERVAL_MS, run: tests.look },
        { name: 'webhook attempts', intervalMs: EXPIRY_INTERVAL_MS, run: () => expire(db) },
        { name: 'idle webhooks', intervalMs: IDLE_INTERVAL_MS, run: () => advanceIdle(db) },
      ];
      return Promise.resolve({
        rounds,
        async close() {
          await Promise.all([consumers.close(), tests.close()]);
          await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
        },
      });
    },
  });

async function advanceIdle(db: Database): Promise<'done'> {
  await inEachShard(db, (shardId) => advanceIdleConsumers(db, shardId, 'webhook'));
  return 'done';
}

async function expire(db: Database): Promise<'more' | 'done'> {
  let more = false;
  await inEachShard(db, async (shardId) => {
    more = (await expireAttempts(db, shardId, ATTEMPT_DAYS)) || more;
  });
  return more ? 'more' : 'done';
}

/** Returns what tells the log that an endpoint was given up. Its URL may hold a secret. */
const warnOfGivenUp =
  (log: Logger): DeliverOptions['onGivenUp'] =>
  ({ id, eventId }, reason) => {
    if (reason !== 'test_event') log.warn({ webhook: id, eventId, reason }, 'a webhook was given up');
  };

/** Returns what counts attempts. To which endpoints they were is in Postgres. */
function countAttempts(metrics: Registry): DeliverOptions['onAttempt'] {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `floodgate_delivery_webhook_${name}`, help, labelNames, registers: [metrics] });
  const attempts = counter('attempts_total', 'Attempts to send a message, by what became of them', [
    'outcome',
  ]);
  const messages = counter('messages_total', 'Messages that were delivered', []);
  const entries = counter('entries_total', 'Entries of the journal that were delivered', []);
  return ({ outcome }, message) => {
    attempts.inc({ outcome });
    if (outcome !== 'delivered') return;
    messages.inc();
    entries.inc(message.entries ?? 0);
  };
}

export const webhooksDelivery = webhookDelivery();
