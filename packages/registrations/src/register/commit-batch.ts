import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { findLockedTickets, type TicketOfEvent } from './find-locked-tickets.ts';
import { forgetExpiredKeys } from '../idempotency/forget-expired-keys.ts';
import { reserveBatch, type Reservation, type ReservationOutcome } from './reserve-batch.ts';
import { statementFailure, type Database, type StatementFailure } from '@floodgate/database';
import { voidBatch } from './void-batch.ts';
import { type CommittedRegistration } from './find-batch.ts';
import type { Submitted } from './group-commit.ts';
import type { HeldTickets } from './locked-tickets.ts';

/** What became of a reservation; `failed`: refused for a reason nobody foresaw, nothing was reserved. */
export type CommitOutcome = ReservationOutcome | { kind: 'failed' };

export interface CommitDependencies {
  db: Database;
  /** Tickets that somebody else holds; told of further ones. */
  held: Pick<HeldTickets, 'has' | 'hold'>;
  /** Told of every batch that has committed seats, once that is certain. */
  onCommitted: (batchId: string) => void;
  /** Told of every statement that failed. */
  onFailure: (error: unknown, facts: { batchId: string; size: number; failure: StatementFailure }) => void;
  /** How long a batch waits for a row that somebody else holds: longer than other processes' batches take. */
  lockWithinMs: number;
  /** How long to go on asking after a commit whose connection was lost. */
  resolveWithinMs: number;
}

type Outcome = Submitted<CommitOutcome>;
type Outcomes = Outcome[];

const RETRY_DELAY_MS = 50;
const MAX_ATTEMPTS = 3;

/**
 * Reserves a batch exactly once and answers one outcome per reservation, in order.
 *
 * Each attempt has an id of its own. After a lost connection its fate is settled first: it has committed, or it never
 * will. So `overloaded` is answered only where nothing was reserved, and `unknown` only where Postgres stays away.
 * A batch that Postgres refuses is split until the bad row is alone. Where somebody else holds a ticket, the others go
 * without it.
 */
export function commitBatch(deps: CommitDependencies, reservations: Reservation[]): Promise<Outcomes> {
  const known = reservations.map((reservation) => (deps.held.has(reservation) ? 'overloaded' : undefined));
  return known.some(Boolean) ? commitRest(deps, reservations, known) : commitTogether(deps, reservations);
}

async function commitTogether(deps: CommitDependencies, reservations: Reservation[]): Promise<Outcomes> {
  const giveUpAt = performance.now() + deps.resolveWithinMs;
  for (let attempt = 1; ; attempt++) {
    const batchId = randomUUIDv7();
    const result = await attemptBatch(deps, batchId, reservations);
    if (typeof result !== 'string') return result;
    if (result === 'unknown') {
      const fate = await settleFate(deps.db, batchId, giveUpAt);
      if (fate === 'unknown') return reservations.map(() => 'unknown');
      if (fate !== 'void') return adoptBatch(deps, batchId, reservations, fate);
    } else if (result === 'locked') {
      const known = await findHeld(deps, reservations);
      if (known.some(Boolean)) return commitRest(deps, reservations, known);
      if (attempt === MAX_ATTEMPTS) return settleRefusal(deps, reservations, result);
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
    const outcomes = await reserveBatch(deps.db, batchId, reservations, deps.lockWithinMs);
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
    case 'locked':
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
  const known: (Outcome | undefined)[] = reservations.map(() => undefined);
  for (const { position, serial, passCode } of committed)
    known[position - 1] = { kind: 'registered', serial, passCode, replayed: false };
  return commitRest(deps, reservations, known);
}

/** `overloaded` for each reservation whose ticket somebody else holds now. */
async function findHeld(
  deps: CommitDependencies,
  reservations: Reservation[],
): Promise<(Outcome | undefined)[]> {
  const locked = await findLockedTickets(deps.db, reservations).catch((): TicketOfEvent[] => []);
  deps.held.hold(locked);
  const names = new Set(locked.map(nameOf));
  return reservations.map((reservation) => (names.has(nameOf(reservation)) ? 'overloaded' : undefined));
}

const nameOf = ({ ticketId, eventId }: TicketOfEvent) => `${ticketId} ${eventId}`;

/** The outcomes that are known; what has none is committed by itself. */
async function commitRest(
  deps: CommitDependencies,
  reservations: Reservation[],
  known: (Outcome | undefined)[],
): Promise<Outcomes> {
  const rest = reservations.filter((_, index) => known[index] === undefined);
  const restOutcomes = rest.length > 0 ? await commitBatch(deps, rest) : [];
  return known.map((outcome) => outcome ?? restOutcomes.shift()!);
}
