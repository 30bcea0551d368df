import { shardIds, type ConsumerKind, type Database } from '@floodgate/database';
import { createSlots } from '@floodgate/service/slots';
import { withDeadline } from '@floodgate/service/timing';
import { leaseConsumers, release, type Consumer } from './consumers.ts';

/** A look that takes longer waits for a shard that does not answer, and keeps no other waiting. */
const LOOK_PATIENCE_MS = 500;
/** For no longer than that a round waits for its looks. */
const ROUND_MS = 2_000;

/** When a consumer is leased again whose previous turn has not ended. */
const AFTER_OLD_TURN_MS = 500;
/** When a consumer is leased again whose turn failed. */
const AFTER_FAILURE_MS = 1_000;

/** What became of a turn. `kept`: somebody else decides when it goes on, as the lease is given back or lost. */
export type TurnEnd = 'more' | 'done' | 'kept';

export interface ConsumersOptions {
  db: Database;
  kind: ConsumerKind;
  /** Turns that this process has under way at once. */
  slots: number;
  /** Called when a turn failed. The consumer is leased again a second later, or when its lease ends if it cannot be released. */
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
  const underWay = new Map<string, Promise<unknown>>();
  /** Looks that have not ended, by shard: a shard that does not answer is asked once. */
  const looks = new Map<number, Promise<void>>();
  // One look at a time: two at once would both see the same room.
  const inTurn = createSlots(1, LOOK_PATIENCE_MS);

  async function takeTurn(consumer: Consumer): Promise<TurnEnd | 'failed'> {
    try {
      const end = stopping.signal.aborted ? 'done' : await turn(consumer, stopping.signal);
      if (end !== 'kept') await release(db, consumer);
      return end;
    } catch (error) {
      onError(error as Error, consumer);
      await release(db, consumer, AFTER_FAILURE_MS).catch(() => {});
      return 'failed';
    }
  }

  async function begin(consumer: Consumer): Promise<void> {
    // Its lease has ended under a turn of this process, which may have something under way still.
    if (underWay.has(consumer.id))
      return void (await release(db, consumer, AFTER_OLD_TURN_MS).catch(() => {}));
    const taken = takeTurn(consumer);
    underWay.set(consumer.id, taken);
    const end = await taken;
    underWay.delete(consumer.id);
    // Whose turn it is now need not wait for the next round, which repeats what fails here.
    if (end === 'more') await lookIn(consumer.shardId).catch(() => {});
  }

  async function lookIn(shardId: number): Promise<void> {
    if (looks.has(shardId)) return;
    const look = inTurn(async () => {
      const room = slots - underWay.size;
      if (room <= 0 || stopping.signal.aborted) return;
      for (const consumer of await leaseConsumers(db, shardId, kind, room)) void begin(consumer);
    }).finally(() => looks.delete(shardId));
    looks.set(shardId, look);
    await look;
  }

  return {
    /** Begins turns for consumers that have something to read, as many as there is room for. */
    async look(): Promise<'more' | 'done'> {
      const looked = Promise.allSettled((await shardIds(db)).map(lookIn));
      const ended = await withDeadline(looked, ROUND_MS, () => []);
      for (const look of ended) if (look.status === 'rejected') throw look.reason;
      return 'done';
    },
    /** Begins no further turn, and resolves when none is under way. */
    async close(): Promise<void> {
      stopping.abort();
      // A look that takes long may still lease consumers, whose turns release them.
      await Promise.allSettled(looks.values());
      await Promise.all(underWay.values());
    },
  };
}
