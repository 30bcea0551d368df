import { expirePartnerEntries } from '@floodgate/audit';
import { inEachShard, type Database } from '@floodgate/database';
import { advanceIdleConsumers, runConsumers, type DeliveryCapability } from '@floodgate/journal';
import type { Metrics } from '@floodgate/metrics';
import { whole } from '@floodgate/service';
import { expireAttempts } from './deliver/attempts.ts';
import { checkedAgent } from './deliver/checked-agent.ts';
import type { Sender } from './deliver/post-message.ts';
import type { Resolve } from './deliver/resolve-outside.ts';
import { createTestSender } from './deliver/send-tests.ts';
import { createEndpointRun } from './deliver/serve-endpoint.ts';
import { allowPrivateSetting } from './settings.ts';

const POLL_INTERVAL_MS = 200;
const TEST_INTERVAL_MS = 400;
/** Much shorter than the retention of the journal, which is at least a day. */
const TIDY_INTERVAL_MS = 3_600_000;
const ATTEMPT_DAYS = 30;

const settings = {
  ...allowPrivateSetting,
  WEBHOOK_SLOTS: whole('webhooks that are served at once; at most half of them can be slow', [2, 1_000], 50),
};

/** Returns the capability. Tests pass their own resolver. */
export const webhookDelivery = (resolve?: Resolve): DeliveryCapability<typeof settings> => ({
  kind: 'webhook',
  settings,
  async open({ db, log, metrics, config }) {
    const isDevelopment = config.WEBHOOK_ALLOW_PRIVATE === 'true';
    const agents = {
      live: checkedAgent(isDevelopment ? 'any' : 'public', resolve),
      test: checkedAgent('private', resolve),
    };
    const sender = { agents, sendsTestEvents: isDevelopment, onAttempt: countAttempts(metrics) };
    const consumers = runConsumers({
      db,
      kind: 'webhook',
      concurrency: config.WEBHOOK_SLOTS,
      onError: (err, { id }) => log.warn({ err, webhook: id }, 'a delivery failed and will be retried'),
      run: createEndpointRun({ db, log, sender }, Math.floor(config.WEBHOOK_SLOTS / 2)),
    });
    const tests = createTestSender({ db, log, sender });
    return {
      tasks: [
        { name: 'webhooks', intervalMs: POLL_INTERVAL_MS, run: consumers.poll },
        { name: 'webhook tests', intervalMs: TEST_INTERVAL_MS, run: tests.poll },
        { name: 'idle webhooks and old attempts', intervalMs: TIDY_INTERVAL_MS, run: () => tidy(db) },
      ],
      async close() {
        await Promise.all([consumers.close(), tests.close()]);
        await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
      },
    };
  },
});

export const webhooksDelivery = webhookDelivery();

/** Advances idle cursors, and deletes old attempts and audit entries. */
async function tidy(db: Database) {
  await expirePartnerEntries(db);
  return inEachShard(db, async (shardId) => {
    await advanceIdleConsumers(db, shardId, 'webhook');
    return expireAttempts(db, shardId, ATTEMPT_DAYS);
  });
}

/** Counts attempts over all endpoints. Postgres has the attempts of each endpoint. */
function countAttempts(metrics: Metrics): Sender['onAttempt'] {
  const help = 'Attempts to send a message, by outcome';
  const attempts = metrics.counter('webhook_attempts', help, ['outcome']);
  const entries = metrics.counter('webhook_entries', 'Delivered journal entries');
  return (outcome, delivered = 0) => {
    attempts.inc({ outcome });
    if (outcome === 'delivered') entries.inc(delivered);
  };
}
