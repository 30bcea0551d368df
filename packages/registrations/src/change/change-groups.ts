import { setTimeout as delay } from 'node:timers/promises';
import { statementFailure } from '@floodgate/database';
import { throttledWarn, type Logger } from '@floodgate/service';
import { createAdmission } from '../admission/admission.ts';

export interface ChangeGroupsOptions {
  log: Logger;
  /** Whether other servers lie behind this one. */
  isCluster: boolean;
  groupLimit: number;
  waitingLimit: number;
  answerWithinMs: number;
  /** Called after each commit, which may have left changes to publish. */
  onCommitted: (shardId: number) => void;
}

/** `overloaded`: nothing was changed. `unknown`: nobody knows. */
export type Unchanged = 'overloaded' | 'unknown' | 'failed';

/** Of the time for an answer, what a group may wait for a row that another transaction has locked. */
const LOCK_SHARE = 1 / 4;
/** And after which it is not sent any more. */
const ATTEMPTS_SHARE = 1 / 2;
const RETRY_DELAY_MS = 50;

/**
 * Returns what makes changes that are safe to repeat: in groups, like the registrations that they are about, and one group
 * under way in each shard. `commit` makes those of one shard, and waits for locks as long as it is told. Where it fails, it is
 * repeated, so that a lost connection is no answer.
 */
export function createChangeGroups<Change, Outcome>(
  { log, ...options }: ChangeGroupsOptions,
  commit: (shardId: number, changes: readonly Change[], lockWithinMs: number) => Promise<Outcome[]>,
) {
  const warn = throttledWarn('changes of registrations did not commit');
  const lockWithinMs = Math.round(options.answerWithinMs * LOCK_SHARE);

  async function repeat(shardId: number, changes: readonly Change[]): Promise<(Outcome | Unchanged)[]> {
    const giveUpAt = performance.now() + options.answerWithinMs * ATTEMPTS_SHARE;
    let mayHaveCommitted = false;
    for (;;) {
      try {
        const outcomes = await commit(shardId, changes, lockWithinMs);
        options.onCommitted(shardId);
        return outcomes;
      } catch (error) {
        const failure = statementFailure(error);
        warn(log, { err: error, size: changes.length, failure });
        // In a cluster, what took too long may have committed on the server behind.
        mayHaveCommitted ||= failure === 'unknown' || (options.isCluster && failure === 'unavailable');
        const isOver = performance.now() >= giveUpAt;
        if (isOver || failure === 'unexpected') {
          const outcome = isOver ? 'overloaded' : 'failed';
          return changes.map(() => (mayHaveCommitted ? 'unknown' : outcome));
        }
        await delay(RETRY_DELAY_MS);
      }
    }
  }

  return createAdmission<Change, Outcome | Unchanged>({
    ...options,
    unitsOf: () => 1,
    commit: (changes, shardId) => repeat(shardId, changes),
    overloaded: 'overloaded',
    unknown: 'unknown',
  });
}

export type ChangeGroups<Change, Outcome> = ReturnType<typeof createChangeGroups<Change, Outcome>>;
