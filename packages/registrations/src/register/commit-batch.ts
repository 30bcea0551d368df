import { sqlStateOf } from '@floodgate/service/failure';
import { statementFailure, type Database, type StatementFailure } from '@floodgate/database';
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { forgetExpiredKeys } from '../idempotency/expired-keys.ts';
import { findLockedTickets, type LockedTickets, type TicketOfEvent } from './locked-tickets.ts';
import { FAILED, OVERLOADED, UNKNOWN, type Outcome } from './outcome.ts';
import { reserveBatch, type ReserveOptions } from './reserve-batch.ts';
import { reservationsOf, type Submission } from './submission.ts';

export interface CommitDependencies extends Omit<ReserveOptions, 'isRepeat'> {
  db: Database;
  /** Circuit breakers of tickets whose rows another transaction keeps locked. */
  locked: LockedTickets;
  /** Whether Postgres is a Citus cluster. */
  isCluster: boolean;
  /** Called for every batch that has committed seats, once that is certain. */
  onCommitted: (batchId: string, shardId: number) => void;
  onFailure: (error: unknown, facts: { batchId: string; size: number; failure: StatementFailure }) => void;
  /** No attempt starts later than this after the first one. */
  resolveWithinMs: number;
}

/** A batch in progress, with the outcomes known so far, by submission. */
interface Commit extends CommitDependencies {
  readonly submissions: readonly Submission[];
  readonly outcomes: Outcome[];
}

/** Submissions that are attempted together, as indexes. */
interface Part {
  readonly positions: readonly number[];
  /** Number of attempts that were rolled back. */
  readonly rollbacks: number;
  /** The batch id of an attempt whose connection was lost. It is attempted again with this id, undivided, until it is answered. */
  readonly lostId?: string;
}

type RolledBack = Exclude<StatementFailure, 'unknown'>;

const RETRY_DELAY_MS = 50;
const MAX_ATTEMPTS = 3;
const STATEMENT_TIMEOUT = '57014';

/**
 * Reserves a batch of one shard exactly once. Returns one outcome per submission, in order; never rejects.
 *
 *   part ─► refuse locked tickets ─► attempt ─► committed: decided
 *    ▲                                  │
 *    ├── locked: find the tickets ◄─────┤
 *    ├── conflict: delete expired keys ◄┤ at most MAX_ATTEMPTS, then in halves until the bad row is alone
 *    ├── bad value: in halves ◄─────────┤
 *    └── unknown: repeat, same id ◄─────┴─► unavailable: overloaded · unexpected: failed · no time: unknown
 *
 * A repeat waits for an attempt that still runs and returns its answer if it has committed. Until a repeat is answered the lost
 * attempt may still commit. So `overloaded` means that nothing was reserved, and `unknown` that Postgres did not answer.
 */
export async function commitBatch(
  deps: CommitDependencies,
  submissions: readonly Submission[],
): Promise<Outcome[]> {
  const giveUpAt = performance.now() + deps.resolveWithinMs;
  const commit: Commit = { ...deps, submissions, outcomes: [] };
  const parts = await attempt(commit, { positions: [...submissions.keys()], rollbacks: 0 });
  for (let part = parts.shift(); part; part = parts.shift()) {
    const isLate = performance.now() >= giveUpAt;
    if (isLate) decide(commit, part, part.lostId ? UNKNOWN : OVERLOADED);
    else parts.unshift(...(await attempt(commit, part)));
  }
  return commit.outcomes;
}

/** Attempts a part. Returns what remains to be attempted. */
async function attempt(commit: Commit, whole: Part): Promise<Part[]> {
  const part = whole.lostId ? whole : refuseLocked(commit, whole);
  if (part.positions.length === 0) return [];
  const batchId = part.lostId ?? randomUUIDv7();
  const submissions = submissionsOf(commit, part);
  try {
    const options = { ...commit, isRepeat: part.lostId !== undefined };
    const outcomes = await reserveBatch(commit.db, batchId, submissions, options);
    if (outcomes.some(isNewSeat)) commit.onCommitted(batchId, shardOf(commit));
    commit.locked.release(reservationsOf(submissions));
    part.positions.forEach((position, index) => (commit.outcomes[position] = outcomes[index]!));
    return [];
  } catch (error) {
    const failure = fateOf(error, commit.isCluster);
    commit.onFailure(error, { batchId, size: reservationsOf(submissions).length, failure });
    if (failure !== 'unknown' && !part.lostId) return afterRollback(commit, part, failure);
    // The lost attempt has the same values and fails as well.
    if (failure === 'bad-value') return halve(commit, part, FAILED);
    if (part.lostId) await delay(RETRY_DELAY_MS);
    return [{ ...part, lostId: batchId }];
  }
}

const submissionsOf = ({ submissions }: Commit, { positions }: Part) =>
  positions.map((position) => submissions[position]!);

const shardOf = ({ submissions }: Commit) => reservationsOf([submissions[0]!])[0]!.shardId;

const isNewSeat = (outcome: Outcome): boolean =>
  outcome.kind === 'bulk'
    ? !outcome.replayed && outcome.outcomes.some(isNewSeat)
    : outcome.kind === 'registered' && !outcome.replayed;

/** On a cluster, a statement that timed out may have committed on the shard's server. */
function fateOf(error: unknown, isCluster: boolean): StatementFailure {
  return isCluster && sqlStateOf(error) === STATEMENT_TIMEOUT ? 'unknown' : statementFailure(error);
}

function decide({ outcomes }: Commit, { positions }: Part, outcome: Outcome): Part[] {
  for (const position of positions) outcomes[position] = outcome;
  return [];
}

/** Returns what remains to be attempted after a rollback. */
async function afterRollback(commit: Commit, part: Part, failure: RolledBack): Promise<Part[]> {
  const isLastAttempt = part.rollbacks + 1 >= MAX_ATTEMPTS;
  const again = { ...part, rollbacks: part.rollbacks + 1 };
  switch (failure) {
    case 'locked':
      if (await findLocked(commit, part)) return [{ ...part, rollbacks: 0 }];
      return isLastAttempt ? decide(commit, part, OVERLOADED) : [again];
    case 'conflict':
      // Another process was faster with an idempotency key or an attendee, or an expired key was in the way.
      if (isLastAttempt) return halve(commit, part, OVERLOADED);
      await forgetExpiredKeys(commit.db, submissionsOf(commit, part), commit.retentionHours).catch(() => {});
      return [again];
    case 'bad-value':
      return halve(commit, part, FAILED);
    case 'not-sent':
    case 'unavailable':
      return decide(commit, part, OVERLOADED);
    case 'unexpected':
    default:
      return decide(commit, part, FAILED);
  }
}

/** Refuses submissions for tickets that another transaction keeps locked. Returns the others. */
function refuseLocked(commit: Commit, part: Part): Part {
  const isLocked = (position: number) =>
    reservationsOf([commit.submissions[position]!]).some((reservation) => commit.locked.has(reservation));
  const locked = part.positions.filter(isLocked);
  if (locked.length === 0) return part;
  decide(commit, { ...part, positions: locked }, OVERLOADED);
  return { ...part, positions: part.positions.filter((position) => !isLocked(position)) };
}

/** Opens the circuit breakers of tickets whose rows are locked now. Returns whether there are any. */
async function findLocked({ db, locked, ...commit }: Commit, part: Part): Promise<boolean> {
  const reservations = reservationsOf(part.positions.map((position) => commit.submissions[position]!));
  const found = await findLockedTickets(db, reservations).catch((): TicketOfEvent[] => []);
  locked.lock(found);
  return found.length > 0;
}

/** Splits a part, so that the row that Postgres refuses is alone in the end and gets the outcome. */
function halve(commit: Commit, part: Part, outcome: Outcome): Part[] {
  const { positions } = part;
  if (positions.length === 1) return decide(commit, part, outcome);
  const middle = Math.ceil(positions.length / 2);
  return [positions.slice(0, middle), positions.slice(middle)].map((half) => ({
    positions: half,
    rollbacks: 0,
  }));
}
