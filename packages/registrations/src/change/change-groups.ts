import { setTimeout as delay } from 'node:timers/promises';
import { statementFailure } from '@floodgate/database';
import type { PartnerPrincipal } from '@floodgate/http';
import { throttledWarn, type Logger } from '@floodgate/service';
import { createGroupCommit } from '../register/group-commit.ts';

export interface ChangeGroupsOptions {
  log: Logger;
  /** Whether other servers lie behind this one. */
  isCluster: boolean;
  groupLimit: number;
  waitingLimit: number;
  answerWithinMs: number;
}

/** Who asks for a change, and where its event lives. */
type Caller = Pick<PartnerPrincipal, 'shardId' | 'partnerId' | 'weight'>;

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
        return await commit(shardId, changes, lockWithinMs);
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

  const openGroup = (shardId: number) =>
    createGroupCommit<Change, Outcome | Unchanged>({
      ...options,
      seatsOf: () => 1,
      isCommitDear: options.isCluster,
      commit: (changes) => repeat(shardId, changes),
      overloaded: 'overloaded',
      unknown: 'unknown',
    });
  const groups = new Map<number, ReturnType<typeof openGroup>>();
  const groupOf = (shardId: number) => {
    const group = groups.get(shardId) ?? openGroup(shardId);
    groups.set(shardId, group);
    return group;
  };

  return {
    /** Resolves when the change is made or certainly is not; never rejects. */
    submit({ shardId, ...partner }: Caller, change: Change): Promise<Outcome | Unchanged> {
      return groupOf(shardId).submit(change, partner);
    },
    /** Seconds until those who wait for the same shard will have been served, as far as the last groups tell. */
    retryAfterSeconds: ({ shardId }: Pick<Caller, 'shardId'>) => groupOf(shardId).secondsToDrain(),
    /** Resolves when everything that was accepted is answered. */
    drain: async () => void (await Promise.all([...groups.values()].map((group) => group.drain()))),
  };
}

export type ChangeGroups<Change, Outcome> = ReturnType<typeof createChangeGroups<Change, Outcome>>;
