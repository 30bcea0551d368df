import { createHash } from 'node:crypto';
import type { RegistrationRequest } from '@floodgate/contract';
import { drawPassCode } from './draw-pass-code.ts';
import type { Reservation } from './reserve-batch.ts';
import { type Logger, throttledWarn } from '@floodgate/service';
import type { PartnerPrincipal } from '@floodgate/http';
import { commitBatch, type CommitDependencies } from './commit-batch.ts';
import { GroupCommit } from './group-commit.ts';
import { LockedTickets } from './locked-tickets.ts';
import { OVERLOADED, UNKNOWN, type Outcome } from './outcome.ts';

export interface RegistrarOptions extends Pick<CommitDependencies, 'db' | 'onCommitted'> {
  log: Logger;
  batchLimit: number;
  waitingLimit: number;
  answerWithinMs: number;
}

/**
 * Of the time for an answer, what a group may wait for a row that another transaction has locked. Longer than the groups of
 * other APIs lock it. A place in line is a wait of its own, and two waits are less than what a batch may take.
 */
const LOCK_SHARE = 1 / 4;

/** Registers attendees: collects what arrives into batches and answers when a batch has committed. */
export class Registrar {
  readonly #group: GroupCommit<Reservation, Outcome>;
  readonly #locked: LockedTickets;
  readonly #keysInProgress = new Set<string>();

  constructor({ db, log, batchLimit, waitingLimit, answerWithinMs, onCommitted }: RegistrarOptions) {
    const warn = throttledWarn('a batch did not commit');
    this.#locked = new LockedTickets(log);
    const deps: CommitDependencies = {
      db,
      locked: this.#locked,
      lockWithinMs: Math.round(answerWithinMs * LOCK_SHARE),
      onCommitted,
      onFailure: (error, facts) => warn(log, { err: error, ...facts }),
      resolveWithinMs: answerWithinMs,
    };
    this.#group = new GroupCommit({
      commit: (reservations) => commitBatch(deps, reservations),
      groupLimit: batchLimit,
      waitingLimit,
      answerWithinMs,
      overloaded: OVERLOADED,
      unknown: UNKNOWN,
      exclusiveKey: ({ eventId, attendeeDigest }) => attendeeDigest && `${eventId}/${attendeeDigest}`,
    });
  }

  /** Returns whether a registration may come now. One that may not is to be answered `overloaded`, and counted as that. */
  admit(): boolean {
    return this.#group.admit();
  }

  /** Registers one attendee. Resolves when the seat is committed or certainly refused; never rejects. */
  register(
    principal: PartnerPrincipal,
    request: RegistrationRequest,
    idempotencyKey: string | undefined,
  ): Promise<Outcome> {
    const reservation = toReservation(principal, request, idempotencyKey);
    if (this.#locked.has(reservation)) return Promise.resolve(OVERLOADED);
    if (idempotencyKey === undefined) return this.#group.submit(reservation);
    const scopedKey = `${principal.partnerId}/${principal.eventId}/${idempotencyKey}`;
    if (this.#keysInProgress.has(scopedKey)) return Promise.resolve({ kind: 'in-progress' });
    this.#keysInProgress.add(scopedKey);
    return this.#group.submit(reservation).finally(() => this.#keysInProgress.delete(scopedKey));
  }

  /** Resolves when everything that was accepted for registration is answered. */
  drain(): Promise<void> {
    return this.#group.drain();
  }
}

function toReservation(
  principal: PartnerPrincipal,
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
    partnerId: principal.partnerId,
    eventId: principal.eventId,
    ticketId,
    passCode: drawPassCode(),
    ...attendee,
    attendeeDigest:
      principal.duplicatePolicy === 'reject' ? uuidDigest(request.emailAddress.toLowerCase()) : null,
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
