import { createHash } from 'node:crypto';
import { formatPassReference, type RegistrationRequest } from '@floodgate/contract';
import { drawPassCode } from './draw-pass-code.ts';
import type { Reservation } from './reserve-batch.ts';
import { type Logger, warnSeldom } from '@floodgate/service';
import type { PartnerPrincipal } from '@floodgate/http';
import { commitBatch, type CommitDependencies, type CommitOutcome } from './commit-batch.ts';
import { GroupCommit, type Submitted } from './group-commit.ts';
import { HeldTickets } from './locked-tickets.ts';

/** What a partner's registration came to. */
export type RegistrationOutcome =
  | { kind: 'registered'; passReference: string; replayed: boolean }
  | Exclude<CommitOutcome, { kind: 'registered' }>
  | { kind: 'in-progress' }
  | { kind: 'overloaded' }
  | { kind: 'unknown' };

export interface RegistrarOptions extends Pick<CommitDependencies, 'db' | 'onCommitted'> {
  log: Logger;
  batchLimit: number;
  waitingLimit: number;
  answerWithinMs: number;
}

/**
 * Of the time for an answer, what a group may wait for a row that another transaction holds: longer than the groups of other
 * APIs hold it, and twice that (its place in line is a wait of its own) is less than what a batch may take.
 */
const LOCK_SHARE = 1 / 4;

/** Registers attendees: collects what arrives into batches and answers when a batch has committed. */
export class Registrar {
  readonly #group: GroupCommit<Reservation, CommitOutcome>;
  readonly #held: HeldTickets;
  readonly #keysInProgress = new Set<string>();

  constructor(options: RegistrarOptions) {
    const warn = warnSeldom('a batch did not commit');
    const lockWithinMs = Math.round(options.answerWithinMs * LOCK_SHARE);
    this.#held = new HeldTickets({ db: options.db, log: options.log, lockWithinMs });
    const deps: CommitDependencies = {
      db: options.db,
      held: this.#held,
      lockWithinMs,
      onCommitted: options.onCommitted,
      onFailure: (error, facts) => warn(options.log, { err: error, ...facts }),
      resolveWithinMs: options.answerWithinMs,
    };
    this.#group = new GroupCommit({
      commit: (reservations) => commitBatch(deps, reservations),
      groupLimit: options.batchLimit,
      waitingLimit: options.waitingLimit,
      answerWithinMs: options.answerWithinMs,
      exclusiveKey: ({ eventId, attendeeDigest }) => attendeeDigest && `${eventId}/${attendeeDigest}`,
    });
  }

  /** Whether a registration that comes now would be taken, and not refused as overloaded. */
  hasRoom(): boolean {
    return this.#group.hasRoom();
  }

  /** Registers one attendee. Resolves when the seat is committed or certainly refused; never rejects. */
  register(
    access: PartnerPrincipal,
    request: RegistrationRequest,
    idempotencyKey: string | undefined,
  ): Promise<RegistrationOutcome> {
    const reservation = toReservation(access, request, idempotencyKey);
    if (this.#held.has(reservation)) return Promise.resolve({ kind: 'overloaded' });
    const reserve = () =>
      this.#group.submit(reservation).then((outcome) => toRegistrationOutcome(access, outcome));
    if (idempotencyKey === undefined) return reserve();
    const scopedKey = `${access.partnerId}/${access.eventId}/${idempotencyKey}`;
    if (this.#keysInProgress.has(scopedKey)) return Promise.resolve({ kind: 'in-progress' });
    this.#keysInProgress.add(scopedKey);
    return reserve().finally(() => this.#keysInProgress.delete(scopedKey));
  }

  /** Resolves when everything that was accepted for registration is answered. */
  async drain(): Promise<void> {
    await this.#group.drain();
    this.#held.close();
  }
}

function toRegistrationOutcome(
  access: PartnerPrincipal,
  outcome: Submitted<CommitOutcome>,
): RegistrationOutcome {
  if (typeof outcome === 'string') return { kind: outcome };
  if (outcome.kind !== 'registered') return outcome;
  const passReference = formatPassReference({
    prefix: access.passPrefix,
    eventId: access.eventId,
    serial: outcome.serial,
    passCode: outcome.passCode,
  });
  return { kind: 'registered', passReference, replayed: outcome.replayed };
}

function toReservation(
  access: PartnerPrincipal,
  request: RegistrationRequest,
  idempotencyKey: string | undefined,
): Reservation {
  const attendee = {
    fullName: request.fullName,
    emailAddress: request.emailAddress,
    phoneNumber: request.phoneNumber ?? null,
    gender: request.gender ?? null,
    tableOrSeat: request.tableOrSeat ?? null,
    extraData1: request.extraData1 ?? null,
    extraData2: request.extraData2 ?? null,
  };
  const ticketId = request.organizedEventTicketID;
  return {
    partnerId: access.partnerId,
    eventId: access.eventId,
    ticketId,
    passCode: drawPassCode(),
    ...attendee,
    attendeeDigest:
      access.duplicatePolicy === 'reject' ? uuidDigest(request.emailAddress.toLowerCase()) : null,
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: idempotencyKey, fingerprint: uuidDigest(JSON.stringify([ticketId, attendee])) },
  };
}

/** 128 bits of SHA-256 in the form of a UUID: Postgres compares and stores those best. */
function uuidDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
