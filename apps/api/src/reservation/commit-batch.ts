import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  forgetExpiredKeys,
  reserveBatch,
  statementFailure,
  voidBatch,
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
const MAX_ATTEMPTS = 3;

/**
 * Reserves a batch exactly once and answers one outcome per reservation, in order.
 *
 * Each attempt has an id of its own. After a lost connection its fate is settled first: it has committed, or it never
 * will. So `overloaded` is answered only where nothing was reserved, and `unknown` only where Postgres stays away.
 * A batch that Postgres refuses is split until the bad row is alone.
 */
export async function commitBatch(deps: CommitDependencies, reservations: Reservation[]): Promise<Outcomes> {
  const giveUpAt = performance.now() + deps.resolveWithinMs;
  for (let attempt = 1; ; attempt++) {
    const batchId = randomUUIDv7();
    const result = await attemptBatch(deps, batchId, reservations);
    if (typeof result !== 'string') return result;
    if (result === 'unknown') {
      const fate = await settleFate(deps.db, batchId, giveUpAt);
      if (fate === 'unknown') return reservations.map(() => 'unknown');
      if (fate !== 'void') return adoptBatch(deps, batchId, reservations, fate);
    } else if (result !== 'conflict' || attempt === MAX_ATTEMPTS) {
      return settleRefusal(deps, reservations, result);
    } else {
      // Another process was faster with the same idempotency key or attendee, or an expired key was in the way. The
      // statement sees that when it runs again.
      await forgetExpiredKeys(deps.db, reservations).catch(() => {});
    }
    if (performance.now() >= giveUpAt) return reservations.map(() => 'overloaded');
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

/** Answers for a batch that Postgres refused: nothing of it is stored. */
async function settleRefusal(
  deps: CommitDependencies,
  reservations: Reservation[],
  failure: Exclude<StatementFailure, 'unknown'>,
): Promise<Outcomes> {
  switch (failure) {
    case 'not-sent':
    case 'unavailable':
      return reservations.map(() => 'overloaded');
    case 'conflict':
      return reservations.length === 1 ? ['overloaded'] : splitBatch(deps, reservations);
    case 'bad-value':
      return reservations.length === 1 ? [{ kind: 'failed' }] : splitBatch(deps, reservations);
    case 'unexpected':
    default:
      return reservations.map(() => ({ kind: 'failed' }));
  }
}

async function splitBatch(deps: CommitDependencies, reservations: Reservation[]): Promise<Outcomes> {
  const middle = Math.ceil(reservations.length / 2);
  const first = await commitBatch(deps, reservations.slice(0, middle));
  return [...first, ...(await commitBatch(deps, reservations.slice(middle)))];
}

/** What became of an attempt whose connection was lost: its registrations, or nothing for ever, or nobody answers. */
async function settleFate(
  db: Database,
  batchId: string,
  giveUpAt: number,
): Promise<CommittedRegistration[] | 'void' | 'unknown'> {
  for (;;) {
    try {
      return (await voidBatch(db, batchId)) ?? 'void';
    } catch {
      if (performance.now() >= giveUpAt) return 'unknown';
      await delay(RETRY_DELAY_MS);
    }
  }
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
