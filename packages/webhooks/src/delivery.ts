import { Counter, type Registry } from '@prometheus-io/client';
import { inEachShard, type Database } from '@floodgate/database';
import { defineDelivery, runConsumers } from '@floodgate/journal';
import { whole, type Logger } from '@floodgate/service';
import { checkedAgent, type Reach } from './checked-agent.ts';
import type { Resolve } from './resolve-outside.ts';
import { createDelivery, type DeliverOptions } from './deliver.ts';
import { expireAttempts, loadEndpoint, noteAttempt, takeTests } from './endpoint-to-deliver.ts';
import { createTestMessage } from './messages.ts';
import { postMessage } from './post-message.ts';
import { allowPrivateSetting } from './settings.ts';
import { createSigner } from './signatures.ts';

const LOOK_INTERVAL_MS = 200;
const TEST_INTERVAL_MS = 500;
const EXPIRY_INTERVAL_MS = 600_000;
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
      const stopping = new AbortController();
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
      const sendTest = testSender({ db, dispatcherOf, onAttempt }, stopping.signal);
      const rounds = [
        { name: 'webhooks', intervalMs: LOOK_INTERVAL_MS, run: consumers.look },
        { name: 'webhook tests', intervalMs: TEST_INTERVAL_MS, run: () => sendTests(db, sendTest) },
        { name: 'webhook attempts', intervalMs: EXPIRY_INTERVAL_MS, run: () => expire(db) },
      ];
      return Promise.resolve({
        rounds,
        async close() {
          stopping.abort();
          await consumers.close();
          await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
        },
      });
    },
  });

type SendTest = (test: { shardId: number; id: string; messageId: string }) => Promise<void>;

async function sendTests(db: Database, sendTest: SendTest): Promise<'done'> {
  await inEachShard(db, async (shardId) => {
    const taken = await takeTests(db, shardId);
    await Promise.all(taken.map((test) => sendTest({ shardId, ...test })));
  });
  return 'done';
}

/** Returns what sends a message that was asked for to try an endpoint. Whatever its state, and once. */
function testSender(
  { db, dispatcherOf, onAttempt }: Omit<DeliverOptions, 'slowSlots' | 'onGivenUp'>,
  signal: AbortSignal,
): SendTest {
  return async ({ shardId, id, messageId }) => {
    const endpoint = await loadEndpoint(db, shardId, id);
    const dispatcher = endpoint && dispatcherOf(endpoint.mode);
    if (!endpoint) return;
    const message = createTestMessage(messageId, endpoint.eventRef);
    const attempt = dispatcher
      ? await postMessage({
          url: endpoint.url,
          message,
          sign: createSigner(endpoint.keys),
          dispatcher,
          signal,
        })
      : { outcome: 'failed' as const, tookMs: 0, httpStatus: null, error: 'TEST_EVENT', retryAfterMs: null };
    onAttempt(attempt, message);
    await noteAttempt(db, endpoint, message, attempt);
  };
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
