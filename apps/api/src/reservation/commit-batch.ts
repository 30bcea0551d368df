import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  findBatch,
  forgetExpiredKeys,
  reserveBatch,
  statementFailure,
  type CommittedRegistration,
  type Database,
  type Reservation,
  type ReservationOutcome,
  type StatementFailure,
} from '@floodgate/database';
import type { Submitted } from './group-commit.ts';

/** What became of a reservation; `failed`: refused for a reason nobody foresaw, nothing was reserved. */
export type CommitOutcome = ReservationOutcome | { kind: 'failed' };

export interface CommitDependencies {
  db: Database;
  /** Told of every batch that has committed seats, once that is certain. */
  onCommitted: (batchId: string) => void;
  /** Told of every statement that failed. */
  onFailure: (error: unknown, facts: { batchId: string; size: number; failure: StatementFailure }) => void;
  /** How long to go on asking after a commit whose connection was lost. */
  resolveWithinMs: number;
}

type Outcomes = Submitted<CommitOutcome>[];

const RETRY_DELAY_MS = 50;
const MAX_CONFLICTS = 3;

/**
 * Reserves a batch exactly once and answers one outcome per reservation, in order.
 *
 * The batch's id is the fence: whatever happens to a connection, the same id is tried again, and Postgres lets
 * at most one attempt commit. `overloaded` is answered only where no attempt can have committed, `unknown`
 * only where Postgres stays away. A batch that Postgres refuses is split until the bad row is alone.
 */
export async function commitBatch(deps: CommitDependencies, reservations: Reservation[]): Promise<Outcomes> {
  const batchId = randomUUIDv7();
  const giveUpAt = performance.now() + deps.resolveWithinMs;
  let mayHaveCommitted = false;
  for (let attempt = 1; ; attempt++) {
    const result = await attemptBatch(deps, batchId, reservations);
    if (typeof result !== 'string') return result;
    if (result === 'unknown') mayHaveCommitted = true;
    if (!mayHaveCommitted) {
      const settled = await settleRefusal(deps, reservations, result, attempt);
      if (settled) return settled;
    }
    const committed = await lookForBatch(deps.db, batchId);
    if (committed) return adoptBatch(deps, batchId, reservations, committed);
    if (performance.now() >= giveUpAt) return reservations.map(() => 'unknown');
    if (mayHaveCommitted) await delay(RETRY_DELAY_MS);
  }
}

async function attemptBatch(
  deps: CommitDependencies,
  batchId: string,
  reservations: Reservation[],
): Promise<ReservationOutcome[] | StatementFailure> {
  try {
    const outcomes = await reserveBatch(deps.db, batchId, reservations);
    if (outcomes.some(isNewSeat)) deps.onCommitted(batchId);
    return outcomes;
  } catch (error) {
    const failure = statementFailure(error);
    deps.onFailure(error, { batchId, size: reservations.length, failure });
    return failure;
  }
}

const isNewSeat = (outcome: ReservationOutcome) => outcome.kind === 'registered' && !outcome.replayed;

/** Decides about a batch that certainly did not commit. Undefined: try the same batch again. */
async function settleRefusal(
  deps: CommitDependencies,
  reservations: Reservation[],
  failure: StatementFailure,
  attempt: number,
): Promise<Outcomes | undefined> {
  switch (failure) {
    case 'not-sent':
    case 'unavailable':
      return reservations.map(() => 'overloaded');
    case 'unexpected':
      return reservations.map(() => ({ kind: 'failed' }));
    case 'bad-value':
      if (reservations.length === 1) return [{ kind: 'failed' }];
      return splitBatch(deps, reservations);
    case 'conflict':
      // Another process was faster with the same idempotency key or attendee, or an expired key was in the
      // way: the statement sees that when it runs again.
      if (attempt < MAX_CONFLICTS) {
        await forgetExpiredKeys(deps.db, reservations).catch(() => {});
        return undefined;
      }
      if (reservations.length === 1) return ['overloaded'];
      return splitBatch(deps, reservations);
    case 'unknown':
    default:
      return undefined;
  }
}

async function splitBatch(deps: CommitDependencies, reservations: Reservation[]): Promise<Outcomes> {
  const middle = Math.ceil(reservations.length / 2);
  const first = await commitBatch(deps, reservations.slice(0, middle));
  return [...first, ...(await commitBatch(deps, reservations.slice(middle)))];
}

/** The committed registrations of the batch; undefined where it has not committed, or nobody answers. */
async function lookForBatch(db: Database, batchId: string): Promise<CommittedRegistration[] | undefined> {
  const found = await findBatch(db, batchId).catch(() => []);
  return found.length > 0 ? found : undefined;
}

/** Answers from a batch that did commit. What has no seat in it was refused, left no trace, and is asked again. */
async function adoptBatch(
  deps: CommitDependencies,
  batchId: string,
  reservations: Reservation[],
  committed: CommittedRegistration[],
): Promise<Outcomes> {
  deps.onCommitted(batchId);
  const seats = new Map(committed.map((registration) => [registration.position - 1, registration]));
  const rest = reservations.filter((_, index) => !seats.has(index));
  const restOutcomes = rest.length > 0 ? await commitBatch(deps, rest) : [];
  return reservations.map((_, index) => {
    const seat = seats.get(index);
    return seat
      ? { kind: 'registered', serial: seat.serial, passCode: seat.passCode, replayed: false }
      : restOutcomes.shift()!;
  });
}
