import { inEachShard, type ConsumerKind, type Database } from '@floodgate/database';
import { leaseConsumers, release, type Consumer } from './consumers.ts';

/** What became of a turn. `kept`: somebody else decides when it goes on, as the lease is given back or lost. */
export type TurnEnd = 'more' | 'done' | 'kept';

export interface ConsumersOptions {
  db: Database;
  kind: ConsumerKind;
  /** Turns that this process has under way at once. */
  slots: number;
  /** Told about a turn that failed for a reason of its own; the consumer is free again when its lease ends. */
  onError: (error: Error, consumer: Consumer) => void;
  /**
   * Delivers for a consumer for a while: as long as is fair to the others, and never longer than LEASE_SECONDS without renewing
   * the lease. Aborted when the process stops: what is under way is ended or given up.
   */
  turn: (consumer: Consumer, signal: AbortSignal) => Promise<TurnEnd>;
}

/**
 * Runs the consumers of a kind, many at once and each in one process at a time. `look` leases those that have something to read;
 * nothing else has to tell of it, so a delivery never depends on whoever rings.
 */
export function runConsumers({ db, kind, slots, onError, turn }: ConsumersOptions) {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  async function takeTurn(consumer: Consumer): Promise<void> {
    try {
      const end = await turn(consumer, stopping.signal);
      if (end !== 'kept') await release(db, consumer);
      // Not with the next round: what has much to deliver would lose the time until then after each turn.
      if (end === 'more') setImmediate(() => void look().catch((error: Error) => onError(error, consumer)));
    } catch (error) {
      onError(error as Error, consumer);
    }
  }

  async function lookOnce(): Promise<'done'> {
    await inEachShard(db, async (shardId) => {
      const room = slots - underWay.size;
      if (room <= 0 || stopping.signal.aborted) return;
      for (const consumer of await leaseConsumers(db, shardId, kind, room)) {
        const taken = takeTurn(consumer).finally(() => underWay.delete(taken));
        underWay.add(taken);
      }
    });
    return 'done';
  }

  // One after the other: two at once would fill the same slots.
  let looking: Promise<unknown> = Promise.resolve();
  function look(): Promise<'more' | 'done'> {
    const looked = looking.then(lookOnce, lookOnce);
    looking = looked;
    return looked;
  }

  return {
    /** Begins turns for consumers that have something to read, as many as there is room for. */
    look,
    /** Begins no further turn, and resolves when none is under way. */
    async close(): Promise<void> {
      stopping.abort();
      await looking.catch(() => {});
      await Promise.all(underWay);
    },
  };
}
