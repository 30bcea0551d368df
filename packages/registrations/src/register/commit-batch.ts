import { statementFailure, type Database, type StatementFailure } from '@floodgate/database';
import type { Call } from '@floodgate/http';
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
import { createAdmission, type AdmissionOptions } from '../admission/admission-queue.ts';
import { forgetExpiredKeys } from '../idempotency/expired-keys.ts';
import { createLockedTickets, nameOf, type LockedTickets } from './locked-tickets.ts';
import {
  isNew,
  OVERLOADED,
  reservationsOf,
  reserveBatch,
  seatsOf,
  type Outcome,
  type ReserveOptions,
  type Submission,
} from './reserve-batch.ts';

interface CommitDependencies extends Omit<ReserveOptions, 'isRepeat'> {
  db: Database;
  /** Circuit breakers of tickets whose rows another transaction keeps locked. */
  locked: LockedTickets;
  /** Whether Postgres is a Citus cluster. */
  isCluster: boolean;
  /** Called for every batch that has committed seats, when Postgres has confirmed the commit. */
  onCommitted: (shardId: number, ...batchIds: string[]) => void;
  onFailure: (error: unknown, facts: { batchId: string; size: number; failure: StatementFailure }) => void;
  /** No attempt starts later than this after the first one. */
  answerWithinMs: number;
  clock: Clock;
}

/** Dependencies of the functions that register attendees and change registrations. */
export interface RegistrationsOptions extends Omit<CommitDependencies, 'locked' | 'onFailure' | 'clock'> {
  log: Logger;
  clock?: Clock | undefined;
  /** Maximum of registrations in one commit. */
  groupLimit: number;
  /** Maximum of registrations that wait for a commit. */
  waitingLimit: number;
  onGroup?: AdmissionOptions<unknown, unknown>['onGroup'];
}

/** Groups in flight at once, over all shards. This many keep Postgres busy. With more, each would take longer. */
const GROUPS_AT_ONCE = 8;
/** A group that takes longer is not counted: it waits for a lock or for a slow shard. */
const PATIENCE_MS = 250;

/** Returns functions that register attendees. They group calls, commit the groups and resolve each call to its outcome. */
export function openRegistrations({ log, clock = systemClock, ...options }: RegistrationsOptions) {
  const warn = throttledWarn('a batch did not commit', clock);
  const deps: CommitDependencies = {
    ...options,
    clock,
    locked: createLockedTickets(log, clock),
    onFailure: (error, facts) => warn(log, { err: error, ...facts }),
  };
  const withPermit = createSemaphore(GROUPS_AT_ONCE, PATIENCE_MS, clock);
  const admission = createAdmission<Submission, Outcome>({
    ...options,
    clock,
    commit: (submissions) => withPermit(() => commitBatch(deps, submissions)),
    unitsOf: seatsOf,
    overloaded: OVERLOADED,
    unknown: { kind: 'unknown' },
  });
  const keysInProgress = new Set<string>();

  return {
    ...admission,
    /** Resolves to the outcome of a call. Never rejects. A batch must not contain the same idempotency key twice. */
    submit(call: Call, submission: Submission): Promise<Outcome> {
      if (submission.idempotency === null) return admission.submit(call, submission);
      const { principal } = call;
      const scopedKey = `${principal.partnerId}/${principal.eventId}/${submission.idempotency.key}`;
      if (keysInProgress.has(scopedKey)) return Promise.resolve<Outcome>({ kind: 'in-progress' });
      keysInProgress.add(scopedKey);
      return admission.submit(call, submission).finally(() => keysInProgress.delete(scopedKey));
    },
  };
}

export type Registrations = ReturnType<typeof openRegistrations>;

type Commit = CommitDependencies & { giveUpAt: number };

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
 * A repeat waits for a lost attempt that still runs, and returns its answer if it has committed. Until Postgres answers a repeat, the
 * lost attempt can commit. So `overloaded` means that nothing was reserved, and `unknown` that Postgres did not answer.
 */
export function commitBatch(deps: CommitDependencies, submissions: Part): Promise<Outcome[]> {
  const giveUpAt = deps.clock.now() + deps.answerWithinMs;
  return commitPart({ ...deps, giveUpAt }, submissions);
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
  const isLocked = part.map((one) => reservationsOf([one]).some(commit.locked.has));
  const others = part.filter((_, index) => !isLocked[index]);
  const outcomes = (await commitPart(commit, others)).values();
  return isLocked.map((refused) => (refused ? OVERLOADED : outcomes.next().value!));
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

/** Opens the circuit breakers of tickets whose rows are locked now. Waits for no lock. Returns whether there are any. */
async function findLocked({ db, locked }: Commit, part: Part) {
  const wanted = reservationsOf(part);
  const tickets = db
    .selectFrom('tickets')
    .select(['id as ticketId', 'event_id as eventId'])
    .where('shard_id', '=', wanted[0]!.shardId)
    .where('id', '=', sql<number>`any(${wanted.map(({ ticketId }) => ticketId)}::integer[])`);
  try {
    const all = await tickets.execute();
    const free = await tickets.forNoKeyUpdate().skipLocked().execute();
    const candidates = new Set(wanted.map(nameOf)).difference(new Set(free.map(nameOf)));
    const found = all.filter((one) => candidates.has(nameOf(one)));
    locked.lock(found);
    return found.length > 0;
  } catch {
    return false;
  }
}
