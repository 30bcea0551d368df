import { inEachShard, rememberShards, type Database } from '@floodgate/database';
import type { ConsumerId } from '@floodgate/journal';
import { createSemaphore, type TaskResult } from '@floodgate/service';
import { sql } from 'kysely';
import { loadEndpoint } from '../endpoints.ts';
import { recordAttempt } from './attempts.ts';
import type { DeliverOptions } from './deliver.ts';
import { buildTestMessage } from './messages.ts';
import { postMessage } from './post-message.ts';

/** Tests that are sent at once. A receiver that takes longer than the patience frees its permit, so it delays no other test. */
const CONCURRENCY = 20;
const PATIENCE_MS = 500;

/** Sends requested test messages, each once, whatever the state of its webhook. */
export function createTestSender({ db, log, sender }: DeliverOptions) {
  const stopping = new AbortController();
  const shards = rememberShards(db);
  const withPermit = createSemaphore(CONCURRENCY, PATIENCE_MS);
  /** By webhook: one test at a time, so tests of one receiver that hangs cannot take all permits. */
  const sending = new Map<string, Promise<void>>();
  let polling: Promise<'more' | 'done'> = Promise.resolve('done');

  async function send(test: RequestedTest): Promise<void> {
    const endpoint = await loadEndpoint(db, test);
    if (!endpoint) return;
    const message = buildTestMessage(test.messageId, endpoint.eventRef);
    const attempt = await postMessage(sender, endpoint, message, stopping.signal);
    await recordAttempt(db, endpoint, message, attempt);
  }

  async function startIn(shardId: number): Promise<void> {
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
    /** Starts to send the requested tests. Waits for no receiver. */
    async poll(): Promise<TaskResult> {
      await (polling = inEachShard(db, startIn, shards));
      return sending.size > 0 ? 'done' : 'idle';
    },
    /** Aborts tests in flight, and resolves when none is left. */
    async close(): Promise<void> {
      stopping.abort();
      await polling.catch(() => {});
      await Promise.all(sending.values());
    },
  };
}

type RequestedTest = ConsumerId & { messageId: string };

/** Takes the requested tests of a shard, except those of these endpoints. Each is taken once: after a crash it can be requested again. */
async function takeTests(db: Database, shardId: number, except: readonly string[]) {
  const { rows } = await sql<RequestedTest>`
    update webhook_endpoints endpoint set test_message = null
    from webhook_endpoints requested
    where requested.shard_id = ${shardId} and requested.test_message is not null
      and requested.id <> all(${except}::uuid[])
      and endpoint.shard_id = ${shardId} and endpoint.id = requested.id
      and endpoint.test_message = requested.test_message
    returning requested.shard_id as "shardId", requested.id, requested.test_message as "messageId"`.execute(
    db,
  );
  return rows;
}
