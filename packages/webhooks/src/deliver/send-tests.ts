import { inEachShard, rememberShards, type Database } from '@floodgate/database';
import { createSemaphore } from '@floodgate/service/semaphore';
import { createSigner } from '../signatures.ts';
import { buildTestMessage } from './build-message.ts';
import type { DeliverOptions } from './deliver.ts';
import { loadEndpoint, type EndpointToDeliver } from './load-endpoint.ts';
import { postMessage, type Attempt } from './post-message.ts';
import { recordAttempt } from './record-attempt.ts';

/** Tests that are sent at once. A receiver that takes longer than the patience frees its permit, so it delays no other test. */
const CONCURRENCY = 20;
const PATIENCE_MS = 500;

interface RequestedTest {
  shardId: number;
  id: string;
  messageId: string;
}

export interface TestSenderOptions extends Pick<DeliverOptions, 'db' | 'dispatcherOf' | 'onAttempt'> {
  onError: (error: Error, id: string) => void;
}

/** Sends requested test messages, each once, whatever the state of its webhook. */
export function createTestSender({ db, dispatcherOf, onAttempt, onError }: TestSenderOptions) {
  const stopping = new AbortController();
  const shards = rememberShards(db);
  const withPermit = createSemaphore(CONCURRENCY, PATIENCE_MS);
  /** By webhook: one test at a time, so tests of one receiver that hangs cannot take all permits. */
  const sending = new Map<string, Promise<void>>();
  let polling: Promise<unknown> = Promise.resolve();

  async function post(endpoint: EndpointToDeliver, message: ReturnType<typeof buildTestMessage>) {
    if (!endpoint.hasAccess) return notSent('NO_ACCESS');
    const dispatcher = dispatcherOf(endpoint.mode);
    if (!dispatcher) return notSent('TEST_EVENT');
    const { url, keys } = endpoint;
    return postMessage({ url, message, sign: createSigner(keys), dispatcher, signal: stopping.signal });
  }

  async function send(test: RequestedTest): Promise<void> {
    const endpoint = await loadEndpoint(db, test);
    if (!endpoint) return;
    const message = buildTestMessage(test.messageId, endpoint.eventRef);
    const attempt = await post(endpoint, message);
    onAttempt(attempt, message);
    await recordAttempt(db, endpoint, message, attempt);
  }

  function start(test: RequestedTest): void {
    const { id } = test;
    const sent = withPermit(() => send(test))
      .catch((error: Error) => onError(error, id))
      .finally(() => sending.delete(id));
    sending.set(id, sent);
  }

  const startAll = () =>
    inEachShard(
      db,
      async (shardId) => {
        if (stopping.signal.aborted) return;
        for (const test of await takeTests(db, shardId, [...sending.keys()])) start(test);
      },
      shards,
    );

  return {
    /** Starts to send the requested tests. Waits for no receiver. */
    async poll(): Promise<'done'> {
      const started = startAll();
      polling = started.catch(() => {});
      await started;
      return 'done';
    },
    /** Aborts tests in flight, and resolves when none is left. */
    async close(): Promise<void> {
      stopping.abort();
      await polling;
      await Promise.all(sending.values());
    },
  };
}

/** Takes the requested tests of a shard, except those of these endpoints. Each is taken once: after a crash it can be requested again. */
async function takeTests(db: Database, shardId: number, except: readonly string[]): Promise<RequestedTest[]> {
  const requested = await db
    .selectFrom('webhook_endpoints')
    .select(['shard_id as shardId', 'id', 'test_message as messageId'])
    .$narrowType<{ messageId: string }>()
    .where('shard_id', '=', shardId)
    .where('test_message', 'is not', null)
    .execute();
  const taken: RequestedTest[] = [];
  for (const test of requested.filter(({ id }) => !except.includes(id))) {
    const { numUpdatedRows } = await db
      .updateTable('webhook_endpoints')
      .set({ test_message: null })
      .where('shard_id', '=', shardId)
      .where('id', '=', test.id)
      .where('test_message', '=', test.messageId)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) taken.push(test);
  }
  return taken;
}

const notSent = (error: string): Attempt => ({
  outcome: 'failed',
  tookMs: 0,
  httpStatus: null,
  error,
  retryAfterMs: null,
});
