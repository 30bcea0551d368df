import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { retry } from '@floodgate/service/retry';
import { recordOutcomes, type Delivery } from './deliveries.ts';
import type { Attempt, Outcome } from './outcome.ts';
import type { DeliveryMessage } from './send-loop.ts';

/** An attempt that has ended and is not recorded yet. */
export interface Ended<Message> {
  delivery: Delivery;
  outcome: Outcome;
  /** The message that was sent; null: none. */
  message: Message | null;
  /** Null: there was none. */
  attempt: Attempt | null;
}

export interface RecordOptions<Message> {
  db: Database;
  /** Runs before outcomes are recorded, and again if recording fails: outcomes are the last thing that is written. */
  beforeRecord?: ((ended: readonly Ended<Message>[]) => Promise<void>) | undefined;
  onError: (error: Error) => void;
}

export interface Recorder<Message> {
  /** Resolves when the outcome is committed. */
  record(ended: Ended<Message>): Promise<void>;
  /** From now on, a failure is final. */
  stop(): void;
}

/** How long outcomes wait for others, so that one statement records them together. */
const GATHER_MS = 15;
const AGAIN_MS = 200;

/**
 * Returns what records outcomes in batches, one batch of a shard at a time. It repeats until Postgres answers: only this process
 * knows what was sent.
 */
export function createRecorder<Message extends DeliveryMessage>({
  db,
  beforeRecord,
  onError,
}: RecordOptions<Message>) {
  const waiting = new Map<
    number,
    { ended: Ended<Message>; resolve: () => void; reject: (e: Error) => void }[]
  >();
  const stopping = new AbortController();

  const write = (shardId: number, ended: readonly Ended<Message>[]) =>
    retry(
      async () => {
        await beforeRecord?.(ended);
        await recordOutcomes(db, shardId, ended);
      },
      {
        delayMs: AGAIN_MS,
        signal: stopping.signal,
        shouldRetry: (error) => {
          onError(error as Error);
          return true;
        },
      },
    );

  async function writeAll(shardId: number): Promise<void> {
    for (;;) {
      await delay(GATHER_MS);
      const batch = waiting.get(shardId)!;
      if (batch.length === 0) return void waiting.delete(shardId);
      waiting.set(shardId, []);
      await write(
        shardId,
        batch.map(({ ended }) => ended),
      ).then(
        () => batch.forEach(({ resolve }) => resolve()),
        (error: Error) => batch.forEach(({ reject }) => reject(error)),
      );
    }
  }

  return {
    record: (ended: Ended<Message>) =>
      new Promise<void>((resolve, reject) => {
        const { shardId } = ended.delivery;
        const batch = waiting.get(shardId);
        if (batch) batch.push({ ended, resolve, reject });
        else {
          waiting.set(shardId, [{ ended, resolve, reject }]);
          void writeAll(shardId);
        }
      }),
    stop: () => stopping.abort(),
  };
}
