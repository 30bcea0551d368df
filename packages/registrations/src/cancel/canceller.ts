import { setTimeout as delay } from 'node:timers/promises';
import { statementFailure, type Database } from '@floodgate/database';
import { throttledWarn, type Logger } from '@floodgate/service';
import { createGroupCommit } from '../register/group-commit.ts';
import { cancelRegistrations, type Cancellation, type CancelOutcome } from './cancel-registrations.ts';

export interface CancellerOptions {
  db: Database;
  log: Logger;
  /** Whether other servers lie behind this one. */
  isCluster: boolean;
  groupLimit: number;
  waitingLimit: number;
  answerWithinMs: number;
}

/** What became of one cancellation: `overloaded` where nothing was cancelled, `unknown` where nobody knows. */
type Outcome = CancelOutcome | 'overloaded' | 'unknown' | 'failed';

export type Canceller = ReturnType<typeof createCanceller>;

/** Of the time for an answer, what a group may wait for a row that another transaction has locked. */
const LOCK_SHARE = 1 / 4;
/** And after which it is not sent any more. */
const ATTEMPTS_SHARE = 1 / 2;
const RETRY_DELAY_MS = 50;

/** Returns what cancels registrations: in groups, like those that make them, and one under way in each shard. */
export function createCanceller({ db, log, ...options }: CancellerOptions) {
  const warn = throttledWarn('cancellations did not commit');
  const openGroup = (shardId: number) =>
    createGroupCommit<Cancellation, Outcome>({
      ...options,
      seatsOf: () => 1,
      isCommitDear: options.isCluster,
      commit: (cancellations) => commit(shardId, cancellations),
      overloaded: 'overloaded',
      unknown: 'unknown',
    });
  const groups = new Map<number, ReturnType<typeof openGroup>>();

  /** Repeats what is safe to repeat, so that a lost connection is no answer. Never rejects. */
  async function commit(shardId: number, cancellations: Cancellation[]): Promise<Outcome[]> {
    const giveUpAt = performance.now() + options.answerWithinMs * ATTEMPTS_SHARE;
    const lockWithinMs = Math.round(options.answerWithinMs * LOCK_SHARE);
    for (let wasSent = false; ;) {
      try {
        return await cancelRegistrations(db, shardId, cancellations, lockWithinMs);
      } catch (error) {
        const failure = statementFailure(error);
        warn(log, { err: error, size: cancellations.length, failure });
        // In a cluster, what took too long may have committed on the server behind.
        wasSent ||= failure === 'unknown' || (options.isCluster && failure === 'unavailable');
        const isOver = performance.now() >= giveUpAt;
        if (!isOver && failure !== 'unexpected') await delay(RETRY_DELAY_MS);
        else return cancellations.map(() => (wasSent ? 'unknown' : isOver ? 'overloaded' : 'failed'));
      }
    }
  }

  return {
    /** Resolves when the seat is given back or certainly is not; never rejects. Safe to repeat. */
    cancel(shardId: number, cancellation: Cancellation): Promise<Outcome> {
      const group = groups.get(shardId) ?? openGroup(shardId);
      groups.set(shardId, group);
      return group.submit(cancellation);
    },
    /** Resolves when everything that was accepted is answered. */
    drain: async () => void (await Promise.all([...groups.values()].map((group) => group.drain()))),
  };
}
