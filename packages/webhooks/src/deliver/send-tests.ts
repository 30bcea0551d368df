import { inEachShard, rememberShards, type Database } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import { createSemaphore, type TaskResult } from '@floodgate/service';
import { sql } from 'kysely';
import { loadEndpoint } from '../endpoints.ts';
import { recordAttempt } from './attempts.ts';
import { buildTestMessage } from './messages.ts';
import { postMessage } from './post-message.ts';
import type { WebhookDeliveryOptions } from './serve-endpoint.ts';

/**
 * Maximum number of tests that are sent at the same time. A test that takes longer than the patience releases
 * its permit, so a slow receiver does not delay other tests.
 */
const CONCURRENCY = 20;
const PATIENCE_MS = 500;

/** Sends requested test messages, each once, in any state of the webhook. */
export function createTestSender({ db, log, sender }: WebhookDeliveryOptions) {
  const stopping = new AbortController();
  const shards = rememberShards(db);
  const withPermit = createSemaphore(CONCURRENCY, PATIENCE_MS);
  /**
   * Running tests by webhook. Each webhook has at most one, so a receiver that hangs cannot take all permits.
   */
  const sending = new Map<string, Promise<void>>();
  let polling: Promise<'more' | 'done'> = Promise.resolve('done');

  async function send(test: RequestedTest) {
    const endpoint = await loadEndpoint(db, test);
    if (!endpoint) return;
    const message = buildTestMessage(test.messageId, endpoint.eventRef);
    const attempt = await postMessage(sender, endpoint, message, stopping.signal);
    await recordAttempt(db, endpoint, message, attempt);
  }

  async function startIn(shardId: number) {
    if (stopping.signal.aborted) return;
    for (const test of await takeTests(db, shardId, [...sending.keys()])) {
      const sent = withPermit(() => send(test)).catch((err: Error) =>
        log.warn({ err, webhook: test.id }, 'a test of a webhook failed'),
      );
      sending.set(test.id, sent);
      void sent.then(() => sending.delete(test.id));
    }
  }

  return {
    /** Starts to send the requested tests. Does not wait for the receivers. */
    async poll(): Promise<TaskResult> {
      polling = inEachShard(db, startIn, shards);
      await polling;
      return sending.size > 0 ? 'done' : 'idle';
    },
    /** Aborts tests in flight. Resolves when none is left. */
    async close() {
      stopping.abort();
      await polling.catch(() => {});
      await Promise.all(sending.values());
    },
  };
}

type RequestedTest = ConsumerId & { messageId: string };

/**
 * Takes the requested tests of a shard, except those of the endpoints `except`. Each test is taken once.
 * After a crash it must be requested again.
 */
async function takeTests(db: Database, shardId: number, except: readonly string[]) {
  const { rows } = await sql<RequestedTest>`
    update webhook_endpoints e set test_message = null
    from webhook_endpoints old
    where old.shard_id = ${shardId} and old.test_message is not null and old.id <> all(${except}::uuid[])
      and e.shard_id = ${shardId} and e.id = old.id and e.test_message = old.test_message
    returning old.shard_id as "shardId", old.id, old.test_message as "messageId"`.execute(db);
  return rows;
}
