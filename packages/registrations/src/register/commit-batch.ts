import { statementFailure, type Database, type StatementFailure } from '@floodgate/database';
import type { Principal } from '@floodgate/http';
import {
  createSemaphore,
  recordCommit,
  recordSpan,
  sleep,
  sqlStateOf,
  systemClock,
  throttledWarn,
  type Clock,
  type Logger,
} from '@floodgate/service';
import { sql } from 'kysely';
import { randomUUIDv7 } from 'node:crypto';
import { createAdmission, type Admission, type QueueOptions } from '../admission/admission-queue.ts';
import { isNew, OVERLOADED, type Outcome } from '../answers.ts';
import { forgetExpiredKeys } from '../idempotency/expired-keys.ts';
import { createLockedTickets, nameOf, type LockedTickets } from './locked-tickets.ts';
import { reservationsOf, seatsOf, type Submission } from './reservation.ts';
import { reserveBatch, type ReserveSettings } from './reserve-batch.ts';

/** Called when Postgres has confirmed a commit of a shard, with the ids of the batches that have seats. */
export type OnCommitted = (shardId: number, ...batchIds: string[]) => void;

/** The dependencies of a commit. */
export interface CommitDependencies extends ReserveSettings {
  db: Database;
  /** Circuit breakers of tickets whose rows another transaction keeps locked. */
  locked: LockedTickets;
  /** Whether Postgres is a Citus cluster. */
  isCluster: boolean;
  /** Called for every batch that has committed seats. */
  onCommitted: OnCommitted;
  onFailure: (error: unknown, batch: FailedBatch) => void;
  /** No attempt starts later than this after the first one. */
  answerWithinMs: number;
  clock: Clock;
}

/** An attempt that failed, for the log. */
interface FailedBatch {
  batchId: string;
  /** Number of registrations. */
  size: number;
  failure: StatementFailure;
}

/** Options of the functions that register attendees and change registrations. */
export interface RegistrationsOptions extends QueueOptions, ReserveSettings {
  db: Database;
  log: Logger;
  /** Whether Postgres is a Citus cluster. */
  isCluster: boolean;
  onCommitted: OnCommitted;
}

/** Functions that register attendees. A batch never contains the same idempotency key twice. */
export type Registrations = Admission<Submission, Outcome>;

/**
 * Limit of groups in flight, over all shards. This many keep Postgres busy. With more, each would take
 * longer.
 */
const MAX_CONCURRENT_GROUPS = 8;
/** A group that takes longer is not counted: it waits for a lock or for a slow shard. */
const PATIENCE_MS = 250;

/**
 * Returns functions that register attendees. They group calls, commit the groups and resolve each call to its
 * outcome.
 */
export function openRegistrations({
  log,
  clock = systemClock,
  ...options
}: RegistrationsOptions): Registrations {
  const warn = throttledWarn('a batch did not commit', clock);
  const dependencies: CommitDependencies = {
    ...options,
    clock,
    locked: createLockedTickets(log, clock),
    onFailure: (error, batch) => warn(log, { err: error, ...batch }),
  };
  const withPermit = createSemaphore(MAX_CONCURRENT_GROUPS, PATIENCE_MS, clock);
  return createAdmission<Submission, Outcome>({
    ...options,
    clock,
    commit: (submissions) => withPermit(() => commitBatch(dependencies, submissions)),
    unitsOf: seatsOf,
    overloaded: OVERLOADED,
    unknown: { kind: 'unknown' },
    exclusive: { keyOf: keyOfCall, inProgress: { kind: 'in-progress' } },
  });
}

const keyOfCall = ({ partnerId, eventId }: Principal, { idempotency }: Submission) =>
  idempotency && `${partnerId}/${eventId}/${idempotency.key}`;

/** The commit of a batch, with all its attempts. */
interface Commit extends CommitDependencies {
  /** No attempt starts later. */
  giveUpAt: number;
}

/** The submissions of a batch, or some of them. */
type Part = readonly Submission[];

const RETRY_DELAY_MS = 50;
const MAX_ATTEMPTS = 3;
const STATEMENT_TIMEOUT = '57014';

/**
 * Reserves a batch of one shard exactly once. Returns one outcome per submission, in order; never rejects.
 *
 *   part ─► refuse locked tickets ─► attempt ─► committed: its outcomes
 *    ▲                                  │
 *    ├── locked: find the tickets ◄─────┤
 *    ├── conflict: delete expired keys ◄┤ at most MAX_ATTEMPTS, then in halves until the bad row is alone
 *    ├── bad value: in halves ◄─────────┤
 *    ├── unexpected: again ◄────────────┤ at most MAX_ATTEMPTS, then failed
 *    └── unknown: repeat, same id ◄─────┴─► unavailable: overloaded · no time: unknown
 *
 * A repeat waits for a lost attempt that still runs, and returns its answer if it has committed. Until
 * Postgres answers a repeat, the lost attempt can commit. So `overloaded` means that nothing was reserved,
 * and `unknown` that Postgres did not answer.
 */
export function commitBatch(dependencies: CommitDependencies, submissions: Part): Promise<Outcome[]> {
  const giveUpAt = dependencies.clock.now() + dependencies.answerWithinMs;
  return commitPart({ ...dependencies, giveUpAt }, submissions);
}

async function commitPart(commit: Commit, part: Part): Promise<Outcome[]> {
  const { locked } = commit;
  const batchId = randomUUIDv7();
  for (let attempts = 1; part.length > 0; attempts += 1) {
    if (reservationsOf(part).some(locked.has)) return refuseLocked(commit, part);
    const result = await attempt(commit, batchId, part, false);
    if (typeof result !== 'string') return result;
    if (result === 'unknown') return repeatLost(commit, batchId, part);
    const outcomes = await afterRollback(commit, part, result, attempts);
    if (outcomes) return outcomes;
    if (commit.clock.now() >= commit.giveUpAt) return decide(part, OVERLOADED);
  }
  return [];
}

const decide = (part: Part, outcome: Outcome) => part.map(() => outcome);

async function refuseLocked(commit: Commit, part: Part): Promise<Outcome[]> {
  const isLocked = part.map((submission) => reservationsOf([submission]).some(commit.locked.has));
  const unlocked = part.filter((_, index) => !isLocked[index]);
  const outcomes = (await commitPart(commit, unlocked)).values();
  return isLocked.map((isRefused) => (isRefused ? OVERLOADED : outcomes.next().value!));
}

/** Resolves to the outcomes, or to the kind of failure. */
async function attempt(commit: Commit, batchId: string, part: Part, isRepeat: boolean) {
  const reservations = reservationsOf(part);
  const startedAt = performance.now();
  const trace = (name: string, record: typeof recordSpan) =>
    record({ name, batchId, startedAt, attributes: { registrations: reservations.length } });
  try {
    const outcomes = await reserveBatch(commit.db, batchId, part, { ...commit, isRepeat });
    // If nobody got a seat, there is no batch.
    if (outcomes.some(isNew)) {
      commit.onCommitted(reservations[0]!.shardId, batchId);
      for (const submission of part) submission.batchId = batchId;
      trace('commit', recordCommit);
    }
    commit.locked.release(reservations);
    return outcomes;
  } catch (error) {
    // On a cluster, a statement that timed out may have committed on the shard's server.
    const isLost = commit.isCluster && sqlStateOf(error) === STATEMENT_TIMEOUT;
    const failure = isLost ? 'unknown' : statementFailure(error);
    trace(`commit: ${failure}`, recordSpan);
    commit.onFailure(error, { batchId, size: reservations.length, failure });
    return failure;
  }
}

/** Repeats an attempt whose connection was lost, with the same id and undivided, until Postgres answers. */
async function repeatLost(commit: Commit, batchId: string, part: Part): Promise<Outcome[]> {
  while (commit.clock.now() < commit.giveUpAt) {
    const result = await attempt(commit, batchId, part, true);
    if (typeof result !== 'string') return result;
    // The lost attempt has the same values and fails as well.
    if (result === 'bad-value') return halve(commit, part, { kind: 'failed' });
    if (result === 'conflict') await forgetKeys(commit, part);
    await sleep(commit.clock, RETRY_DELAY_MS);
  }
  return decide(part, { kind: 'unknown' });
}

/** Resolves to the outcomes of a part that was rolled back, or to null if it must be attempted again. */
async function afterRollback(commit: Commit, part: Part, failure: StatementFailure, attempts: number) {
  if (failure === 'bad-value') return halve(commit, part, { kind: 'failed' });
  // Such as a function that a migration has replaced: this connection still has the old one.
  if (failure === 'unexpected') return attempts < MAX_ATTEMPTS ? null : decide(part, { kind: 'failed' });
  if (failure === 'locked' && (await findLocked(commit, part))) return null;
  if (failure !== 'conflict')
    return failure === 'locked' && attempts < MAX_ATTEMPTS ? null : decide(part, OVERLOADED);
  // Another process committed the same idempotency key or attendee first, or an expired key conflicts.
  if (attempts === MAX_ATTEMPTS) return halve(commit, part, OVERLOADED);
  await forgetKeys(commit, part);
  return null;
}

const forgetKeys = ({ db, retentionHours }: Commit, part: Part) =>
  forgetExpiredKeys(db, part, retentionHours).catch(() => {});

/** Splits a part until the row that Postgres rejects is alone. That row gets the outcome. */
async function halve(commit: Commit, part: Part, outcome: Outcome): Promise<Outcome[]> {
  if (part.length === 1) return [outcome];
  const middle = Math.ceil(part.length / 2);
  const commitHalf = async (half: Part) =>
    commit.clock.now() < commit.giveUpAt ? commitPart(commit, half) : decide(half, OVERLOADED);
  const first = await commitHalf(part.slice(0, middle));
  return first.concat(await commitHalf(part.slice(middle)));
}

/**
 * Opens the circuit breakers of tickets whose rows are locked now. Waits for no lock. Returns whether there
 * are any.
 */
async function findLocked({ db, locked }: Commit, part: Part) {
  const reservations = reservationsOf(part);
  const ticketIds = reservations.map(({ ticketId }) => ticketId);
  const select = db
    .selectFrom('tickets')
    .select(['id as ticketId', 'event_id as eventId'])
    .where('shard_id', '=', reservations[0]!.shardId)
    .where('id', '=', sql<number>`any(${ticketIds}::integer[])`);
  try {
    const tickets = await select.execute();
    const unlocked = await select.forNoKeyUpdate().skipLocked().execute();
    const names = new Set(reservations.map(nameOf)).difference(new Set(unlocked.map(nameOf)));
    const lockedNow = tickets.filter((ticket) => names.has(nameOf(ticket)));
    locked.lock(lockedNow);
    return lockedNow.length > 0;
  } catch {
    return false;
  }
}
