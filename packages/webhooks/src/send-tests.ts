import { inEachShard } from '@floodgate/database';
import { createSlots } from '@floodgate/service/slots';
import type { DeliverOptions } from './deliver.ts';
import { loadEndpoint, noteAttempt, takeTests, type EndpointToDeliver } from './endpoint-to-deliver.ts';
import { createTestMessage } from './messages.ts';
import { postMessage, type Attempt } from './post-message.ts';
import { createSigner } from './signatures.ts';

/** Tests that are sent at once. A receiver that takes longer than the patience frees its slot, so it delays no other test. */
const SLOTS = 20;
const PATIENCE_MS = 500;

/** A message of the type webhook.test that somebody asked for. */
interface AskedTest {
  shardId: number;
  id: string;
  messageId: string;
}

export interface TestSenderOptions extends Pick<DeliverOptions, 'db' | 'dispatcherOf' | 'onAttempt'> {
  onError: (error: Error, id: string) => void;
}

/** Returns what sends the tests that were asked for. Each is sent once, whatever the state of its webhook. */
export function createTestSender({ db, dispatcherOf, onAttempt, onError }: TestSenderOptions) {
  const stopping = new AbortController();
  const inSlot = createSlots(SLOTS, PATIENCE_MS);
  /** By webhook: one test at a time, so a partner cannot fill the queue with tests of one receiver that hangs. */
  const sending = new Map<string, Promise<void>>();
  let looking: Promise<unknown> = Promise.resolve();

  async function post(endpoint: EndpointToDeliver, message: ReturnType<typeof createTestMessage>) {
    if (!endpoint.hasAccess) return notSent('NO_ACCESS');
    const dispatcher = dispatcherOf(endpoint.mode);
    if (!dispatcher) return notSent('TEST_EVENT');
    const { url, keys } = endpoint;
    return postMessage({ url, message, sign: createSigner(keys), dispatcher, signal: stopping.signal });
  }

  async function send({ shardId, id, messageId }: AskedTest): Promise<void> {
    const endpoint = await loadEndpoint(db, shardId, id);
    if (!endpoint) return;
    const message = createTestMessage(messageId, endpoint.eventRef);
    const attempt = await post(endpoint, message);
    onAttempt(attempt, message);
    await noteAttempt(db, endpoint, message, attempt);
  }

  function begin(test: AskedTest): void {
    const { id } = test;
    const sent = inSlot(() => send(test))
      .catch((error: Error) => onError(error, id))
      .finally(() => sending.delete(id));
    sending.set(id, sent);
  }

  const takeAll = () =>
    inEachShard(db, async (shardId) => {
      if (stopping.signal.aborted) return;
      const tests = await takeTests(db, shardId, [...sending.keys()]);
      for (const test of tests) begin({ shardId, ...test });
    });

  return {
    /** Starts to send the tests that were asked for. Waits for no receiver. */
    async look(): Promise<'done'> {
      const taken = takeAll();
      looking = taken.catch(() => {});
      await taken;
      return 'done';
    },
    /** Aborts what is being sent, and resolves when nothing is. */
    async close(): Promise<void> {
      stopping.abort();
      await looking;
      await Promise.all(sending.values());
    },
  };
}

const notSent = (error: string): Attempt => ({
  outcome: 'failed',
  tookMs: 0,
  httpStatus: null,
  error,
  retryAfterMs: null,
});
