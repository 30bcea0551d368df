import { sqlStateOf } from '@floodgate/service/failure';
import { statementFailure, type Database, type StatementFailure } from '@floodgate/database';
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { forgetExpiredKeys } from '../idempotency/expired-keys.ts';
import { findLockedTickets, type LockedTickets, type TicketOfEvent } from './locked-tickets.ts';
import { FAILED, OVERLOADED, UNKNOWN, type Outcome } from './outcome.ts';
import { isBulk, reservationsOf, reserveBatch, seatsOf, type Order } from './reserve-batch.ts';
import { findBatch, voidBatch, type CommittedRegistration } from './void-batch.ts';

export interface CommitDependencies {
  db: Database;
  /** Tickets that another transaction keeps locked. It is told of further ones, and of those that were sold from again. */
  locked: LockedTickets;
  /** Shards of a cluster that did not answer the last time. */
  suspects: Set<number>;
  /** Whether other servers lie behind this one. */
  isCluster: boolean;
  /** Told of every batch that has committed seats, once that is certain. */
  onCommitted: (batchId: string, shardId: number) => void;
  onFailure: (error: unknown, facts: { batchId: string; size: number; failure: StatementFailure }) => void;
  /** How long a batch waits for a row that another transaction has locked: longer than other processes' batches take. */
  lockWithinMs: number;
  /** How long idempotency keys count. */
  retentionHours: number;
  /** How much of a ticket one partner may hold. */
  holdSharePercent?: number;
  /** How long after its start a batch may begin an attempt, or ask what became of one. */
  resolveWithinMs: number;
}

/** A batch on its way: what is decided so far, by order, and when no further attempt begins. */
interface Commit extends CommitDependencies {
  readonly orders: readonly Order[];
  readonly outcomes: Outcome[];
  /** Bulk calls that have committed, and were asked again for their answer. */
  readonly askedAgain: Set<number>;
  readonly giveUpAt: number;
}

/** What is attempted together: indexes of orders. */
interface Part {
  readonly positions: readonly number[];
  /** How often these have been refused together. */
  readonly refusals: number;
}

type RolledBack = Exclude<StatementFailure, 'unknown'>;

const RETRY_DELAY_MS = 50;
const MAX_ATTEMPTS = 3;

/**
 * Reserves a batch of one shard exactly once. Returns one outcome per order, in order; never rejects.
 *
 *   part ─► set locked tickets aside ─► attempt ─► committed ─► decided
 *    ▲                                    │
 *    ├── locked: by whom others wait ◄────┤
 *    ├── conflict: forget expired keys ◄──┤ at most MAX_ATTEMPTS, then in halves until the bad row is alone
 *    ├── bad value: in halves ◄───────────┤
 *    ├── void: it never will commit ◄─────┤
 *    └── adopt: it has; the rest again ◄──┴─► unavailable: overloaded · unexpected: failed · nobody answers: unknown
 *
 * Each attempt has a batch id of its own. After a lost connection the id's fate is settled first: it has committed, or it
 * never will. So `overloaded` is said only where nothing was reserved, and `unknown` only where Postgres stays away.
 */
export async function commitBatch(deps: CommitDependencies, orders: readonly Order[]): Promise<Outcome[]> {
  const giveUpAt = performance.now() + deps.resolveWithinMs;
  const commit: Commit = { ...deps, orders, outcomes: [], askedAgain: new Set(), giveUpAt };
  const parts = await commitPart(commit, unrefused([...orders.keys()]));
  for (let part = parts.shift(); part; part = parts.shift()) {
    const isOver = performance.now() >= giveUpAt;
    parts.unshift(...(isOver ? decide(commit, part, OVERLOADED) : await commitPart(commit, part)));
  }
  return commit.outcomes;
}

/** Attempts a part. Returns what is left of it to attempt. */
async function commitPart(commit: Commit, part: Part): Promise<Part[]> {
  const rest = setLockedAside(commit, part);
  if (rest.positions.length === 0) return [];
  const batchId = randomUUIDv7();
  const orders = ordersOf(commit, rest);
  let isSent = false;
  try {
    // Asked first, it can be said that nothing was reserved. Otherwise its fate would be unknown once more.
    if (commit.suspects.has(shardOf(commit))) await findBatch(commit.db, shardOf(commit), batchId);
    isSent = true;
    const outcomes = await reserveBatch(commit.db, batchId, orders, commit);
    if (outcomes.some(isNewSeat)) commit.onCommitted(batchId, shardOf(commit));
    commit.locked.release(reservationsOf(orders));
    commit.suspects.delete(shardOf(commit));
    rest.positions.forEach((position, index) => takeOutcome(commit, position, outcomes[index]!));
    return [];
  } catch (error) {
    const failure = fateOf(error, commit.isCluster);
    commit.onFailure(error, { batchId, size: reservationsOf(orders).length, failure });
    if (!isSent) return decide(commit, rest, OVERLOADED);
    if (failure === 'unknown' && commit.isCluster) commit.suspects.add(shardOf(commit));
    return failure === 'unknown' ? settleFate(commit, rest, batchId) : afterRollback(commit, rest, failure);
  }
}

const ordersOf = ({ orders }: Commit, { positions }: Part) => positions.map((position) => orders[position]!);

/** What we have asked again ourselves is not replayed to the caller. */
function takeOutcome({ outcomes, askedAgain }: Commit, position: number, outcome: Outcome): void {
  const isOwn = outcome.kind === 'bulk' && askedAgain.has(position);
  outcomes[position] = isOwn ? { ...outcome, replayed: false } : outcome;
}

const STATEMENT_TIMEOUT = '57014';

/** What a failure means. In a cluster, one that took too long may have committed on the shard's server. */
function fateOf(error: unknown, isInCluster: boolean): StatementFailure {
  return isInCluster && sqlStateOf(error) === STATEMENT_TIMEOUT ? 'unknown' : statementFailure(error);
}

const shardOf = ({ orders }: Commit) => reservationsOf([orders[0]!])[0]!.shardId;

const isNewSeat = (outcome: Outcome): boolean =>
  outcome.kind === 'bulk'
    ? !outcome.replayed && outcome.outcomes.some(isNewSeat)
    : outcome.kind === 'registered' && !outcome.replayed;

function decide({ outcomes }: Commit, { positions }: Part, outcome: Outcome): Part[] {
  for (const position of positions) outcomes[position] = outcome;
  return [];
}

/** What an attempt that was rolled back leaves to do. */
async function afterRollback(commit: Commit, part: Part, failure: RolledBack): Promise<Part[]> {
  switch (failure) {
    case 'locked':
      return findWhoWaits(commit, part);
    case 'conflict':
      return retryConflict(commit, part);
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

/** Refuses those whose ticket another transaction keeps locked. Returns the others. */
function setLockedAside(commit: Commit, part: Part): Part {
  const isLocked = (position: number) =>
    reservationsOf([commit.orders[position]!]).some((reservation) => commit.locked.has(reservation));
  const aside = part.positions.filter(isLocked);
  if (aside.length === 0) return part;
  decide(commit, { ...part, positions: aside }, OVERLOADED);
  return { positions: part.positions.filter((position) => !isLocked(position)), refusals: part.refusals };
}

/** Somebody holds a row for too long. Where it is a ticket's, its buyers are set aside with the next attempt. */
async function findWhoWaits(commit: Commit, part: Part): Promise<Part[]> {
  const { db, locked } = commit;
  const found = await findLockedTickets(db, reservationsOf(ordersOf(commit, part))).catch(
    (): TicketOfEvent[] => [],
  );
  locked.lock(found);
  if (found.length > 0) return [{ ...part, refusals: 0 }];
  return isLastAttempt(part) ? decide(commit, part, OVERLOADED) : [refused(part)];
}

/**
 * Another process was faster with the same idempotency key or attendee, or an expired key was in the way. The statement
 * sees that when it runs again.
 */
async function retryConflict(commit: Commit, part: Part): Promise<Part[]> {
  if (isLastAttempt(part)) return halve(commit, part, OVERLOADED);
  await forgetExpiredKeys(commit.db, ordersOf(commit, part), commit.retentionHours).catch(() => {});
  return [refused(part)];
}

const isLastAttempt = ({ refusals }: Part) => refusals + 1 >= MAX_ATTEMPTS;
const unrefused = (positions: readonly number[]): Part => ({ positions, refusals: 0 });
const refused = ({ positions, refusals }: Part): Part => ({ positions, refusals: refusals + 1 });

/** Splits a part, so that the row which Postgres refuses is alone in the end: that one gets the outcome. */
function halve(commit: Commit, part: Part, outcome: Outcome): Part[] {
  const { positions } = part;
  if (positions.length === 1) return decide(commit, part, outcome);
  const middle = Math.ceil(positions.length / 2);
  return [positions.slice(0, middle), positions.slice(middle)].map(unrefused);
}

/** The connection was lost under an attempt: it has committed, or from now on it never will, or nobody tells. */
async function settleFate(commit: Commit, part: Part, batchId: string): Promise<Part[]> {
  for (;;) {
    try {
      const committed = await voidBatch(commit.db, shardOf(commit), batchId);
      if (!committed) return [part];
      commit.onCommitted(batchId, shardOf(commit));
      return adopt(commit, part, committed);
    } catch {
      if (performance.now() >= commit.giveUpAt) return decide(commit, part, UNKNOWN);
      await delay(RETRY_DELAY_MS);
    }
  }
}

/**
 * Takes the outcomes of a batch that did commit. What has no seat in it was refused, left no trace, and is asked again. So is a
 * bulk call: its key knows the answer.
 */
function adopt(commit: Commit, { positions }: Part, committed: readonly CommittedRegistration[]): Part[] {
  const seats = new Map(committed.map((seat) => [seat.position, seat]));
  const rest: number[] = [];
  let position = 0;
  for (const index of positions) {
    const order = commit.orders[index]!;
    position += seatsOf(order);
    const seat = isBulk(order) ? undefined : seats.get(position);
    if (isBulk(order)) commit.askedAgain.add(index);
    if (!seat) rest.push(index);
    else
      commit.outcomes[index] = {
        kind: 'registered',
        serial: seat.serial,
        passCode: seat.passCode,
        replayed: false,
      };
  }
  return rest.length > 0 ? [unrefused(rest)] : [];
}
