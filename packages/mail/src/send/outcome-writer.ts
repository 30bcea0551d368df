import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { recordDeliveries, type Delivery } from '../mail-deliveries.ts';
import { suppress } from '../suppressions.ts';

/** Writes what became of e-mails. */
export interface OutcomeWriter {
  /** Resolves when it is committed, with the address that gets no more. Rejects where that is given up, as the process stops. */
  write(delivery: Delivery, suppressed?: string): Promise<void>;
  /** From now on a failure is final. */
  stop(): void;
}

/** How long outcomes wait for others to go with them. */
const GATHER_MS = 15;
const AGAIN_MS = 200;

interface Waiting {
  delivery: Delivery;
  suppressed: string | undefined;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Returns what writes outcomes in groups, a shard's one after the other. It goes on trying while Postgres is away: what was sent
 * must not be forgotten by who knows it.
 */
export function createOutcomeWriter(db: Database, onError: (error: Error) => void): OutcomeWriter {
  const waiting = new Map<number, Waiting[]>();
  let isStopping = false;

  async function writeAll(shardId: number): Promise<void> {
    for (;;) {
      await delay(GATHER_MS);
      const group = waiting.get(shardId)!;
      if (group.length === 0) return void waiting.delete(shardId);
      waiting.set(shardId, []);
      await writeGroup(group);
    }
  }

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    // A statement may write a row once. Who has lost its lease may have sent what another process gave back.
    const bySerial = new Map(
      group.map(({ delivery }) => [`${delivery.eventId} ${delivery.serial}`, delivery]),
    );
    for (;;) {
      try {
        // First: else nobody would know any more that the address is to be suppressed.
        for (const { delivery, suppressed } of group)
          if (suppressed) {
            const { eventId, reason } = delivery;
            await suppress(db, { digest: suppressed, reason: reason ?? '', eventId });
          }
        await recordDeliveries(db, [...bySerial.values()]);
        return group.forEach(({ resolve }) => resolve());
      } catch (error) {
        onError(error as Error);
        if (isStopping) return group.forEach(({ reject }) => reject(error as Error));
        await delay(AGAIN_MS);
      }
    }
  }

  return {
    write: (delivery, suppressed) =>
      new Promise((resolve, reject) => {
        const one = { delivery, suppressed, resolve, reject };
        const group = waiting.get(delivery.shardId);
        if (group) group.push(one);
        else {
          waiting.set(delivery.shardId, [one]);
          void writeAll(delivery.shardId);
        }
      }),
    stop: () => void (isStopping = true),
  };
}
