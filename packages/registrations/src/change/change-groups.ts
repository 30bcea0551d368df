import { statementFailure } from '@floodgate/database';
import { retry, systemClock, throttledWarn, type Logger } from '@floodgate/service';
import { createAdmission, type Admission, type QueueOptions } from '../admission/admission-queue.ts';
import type { OnCommitted } from '../register/commit-batch.ts';

/**
 * `overloaded`: nothing was changed. `unknown`: it may have been changed. `failed`: nothing, for an
 * unexpected reason.
 */
export type CallFailure = 'overloaded' | 'unknown' | 'failed';

export interface ChangeGroupOptions<Item> extends QueueOptions {
  log: Logger;
  /** Whether Postgres is a Citus cluster. */
  isCluster: boolean;
  onCommitted: OnCommitted;
  /** Returns what an item costs. By default 1. */
  unitsOf?: (item: Item) => number;
  /** Splits a group where items must not be in one transaction. Items in no round are answered 90. */
  roundsOf?: (items: readonly Item[]) => Iterable<readonly Item[]>;
}

/** Functions that commit changes in groups. */
export interface Groups<Item, Outcome> extends Admission<Item, Outcome | CallFailure> {
  /**
   * Commits changes of one shard now, without a queue. Returns one outcome per item, in order. Never rejects.
   */
  commit: (items: readonly Item[], shardId: number) => Promise<(Outcome | CallFailure)[]>;
}

/** Rounds of one item each. */
export const inSeparateRounds = <Item>(items: readonly Item[]) => items.map((item) => [item]);

/**
 * Returns functions that commit changes in groups, one group at a time in each shard, as registrations are
 * made. A change is safe to repeat, so a failed round is retried.
 */
export function createGroups<Item, Outcome>(
  {
    log,
    unitsOf = () => 1,
    roundsOf = (items) => [items],
    clock = systemClock,
    ...options
  }: ChangeGroupOptions<Item>,
  change: (shardId: number, items: readonly Item[]) => Promise<Outcome[]>,
): Groups<Item, Outcome> {
  const warn = throttledWarn('changes of registrations did not commit', clock);

  async function commit(items: readonly Item[], shardId: number) {
    const outcomes = new Map<Item, Outcome | CallFailure>(items.map((item) => [item, 'overloaded']));
    const giveUpAt = clock.now() + options.answerWithinMs / 2;
    for (const round of roundsOf(items)) {
      const outcomesOfRound = await commitRound(round, shardId);
      for (const [index, item] of round.entries()) outcomes.set(item, outcomesOfRound[index]!);
      const [first] = outcomesOfRound;
      if (first === 'overloaded' || first === 'unknown' || clock.now() > giveUpAt) break;
    }
    return [...outcomes.values()];
  }

  async function commitRound(items: readonly Item[], shardId: number): Promise<(Outcome | CallFailure)[]> {
    let mayHaveCommitted = false;
    const shouldRetry = (error: unknown) => {
      const failure = statementFailure(error);
      warn(log, { err: error, size: items.length, failure });
      // On a cluster, a statement that timed out may have committed on the shard's server.
      mayHaveCommitted ||= failure === 'unknown' || (options.isCluster && failure === 'unavailable');
      return failure !== 'unexpected';
    };
    try {
      // Half of the answer time is left for the last attempt.
      const retries = { delayMs: 50, withinMs: options.answerWithinMs / 2, shouldRetry, clock };
      const outcomes = await retry(() => change(shardId, items), retries);
      options.onCommitted(shardId);
      return outcomes;
    } catch (error) {
      const outcome = statementFailure(error) === 'unexpected' ? 'failed' : 'overloaded';
      return items.map(() => (mayHaveCommitted ? 'unknown' : outcome));
    }
  }

  const admission = createAdmission<Item, Outcome | CallFailure>({
    ...options,
    clock,
    unitsOf,
    commit,
    overloaded: 'overloaded',
    unknown: 'unknown',
  });
  return { ...admission, commit };
}
