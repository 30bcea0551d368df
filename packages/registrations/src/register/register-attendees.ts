import { createHash, randomInt } from 'node:crypto';
import type { RegistrationRequest } from '@floodgate/contract';
import type { Principal } from '@floodgate/http';
import { createSemaphore, throttledWarn, type Logger } from '@floodgate/service';
import { createAdmission } from '../admission/admission-queue.ts';
import type { ShardBatches } from '../finalize/finalize-batches.ts';
import { commitBatch, createLockedTickets, type CommitDependencies } from './commit-batch.ts';
import {
  OVERLOADED,
  seatsOf,
  type Idempotency,
  type Outcome,
  type Reservation,
  type Submission,
} from './reserve-batch.ts';

/** Dependencies of everything that registers attendees and changes registrations. */
export interface RegistrationsOptions extends Omit<
  CommitDependencies,
  'locked' | 'lockWithinMs' | 'onFailure'
> {
  log: Logger;
  /** Registrations of one commit. */
  groupLimit: number;
  /** Registrations that may wait for one. */
  waitingLimit: number;
}

/** The settings of a call, in addition to its registrations. */
export interface CallOptions {
  /** Its Idempotency-Key. */
  key?: string | undefined;
  /** How long its seats are held unless they are confirmed. */
  holdSeconds?: number | undefined;
}

export type Registrations = ReturnType<typeof openRegistrations>;

/**
 * Share of the answer time that a group waits for a row lock. Longer than the groups of other APIs hold one. lock_timeout applies
 * per wait, and there can be two (queue, then row): both must fit into the time of a batch.
 */
export const LOCK_SHARE = 1 / 4;
/** Groups of all shards in flight at once: they keep Postgres busy, and with more each would take longer. */
const GROUPS_AT_ONCE = 8;
/** A group that takes longer is not counted: it waits for a lock or for a slow shard. */
const PATIENCE_MS = 250;

/** Opens what registers attendees: it groups the calls, commits the groups and resolves each call to its outcome. */
export function openRegistrations({ log, ...options }: RegistrationsOptions) {
  const warn = throttledWarn('a batch did not commit');
  const deps: CommitDependencies = {
    ...options,
    locked: createLockedTickets(log),
    lockWithinMs: Math.round(options.answerWithinMs * LOCK_SHARE),
    onFailure: (error, facts) => warn(log, { err: error, ...facts }),
  };
  const withPermit = createSemaphore(GROUPS_AT_ONCE, PATIENCE_MS);
  const admission = createAdmission<Submission, Outcome>({
    ...options,
    commit: (submissions) => withPermit(() => commitBatch(deps, submissions)),
    unitsOf: seatsOf,
    overloaded: OVERLOADED,
    unknown: { kind: 'unknown' },
  });
  const keysInProgress = new Set<string>();

  /** Two calls with one idempotency key must not be in one batch. */
  function submit(principal: Principal, submission: Submission, key?: string): Promise<Outcome> {
    if (key === undefined) return admission.submit(principal, submission);
    const scopedKey = `${principal.partnerId}/${principal.eventId}/${key}`;
    if (keysInProgress.has(scopedKey)) return Promise.resolve<Outcome>({ kind: 'in-progress' });
    keysInProgress.add(scopedKey);
    return admission.submit(principal, submission).finally(() => keysInProgress.delete(scopedKey));
  }

  return {
    ...admission,
    /** Resolves when the seat is committed or refused; never rejects. */
    register: (principal: Principal, request: RegistrationRequest, call: CallOptions = {}) =>
      submit(principal, toReservation(principal, request, call), call.key),
    /** Registers the attendees of one call, at least one. Resolves to an outcome for each, or to one for the call; never rejects. */
    registerBulk(
      principal: Principal,
      requests: readonly RegistrationRequest[],
      isAll: boolean,
      { key, holdSeconds }: CallOptions = {},
    ) {
      const reservations = requests.map((request) => toReservation(principal, request, { holdSeconds }));
      const idempotency = idempotencyOf(key, () => [isAll, requests.map(contentOf), holdSeconds]);
      return submit(principal, { reservations, isAll, idempotency }, key);
    },
  };
}

/**
 * Notifies the queue of committed batches and changes: at once after a quiet time, and otherwise together with what commits
 * within the interval. A job costs the queue and its worker far more than the batch's one row does.
 * `enqueue` adds a job for batches of one shard. It must not throw: the relay finds a batch whose job was lost.
 */
export function createQueueNotifier(enqueue: (batches: ShardBatches) => void, intervalMs: number) {
  const committed = new Map<number, string[]>();
  let timer: NodeJS.Timeout | undefined;

  /** Sends all notifications that wait for the interval. */
  function flush(): void {
    clearTimeout(timer);
    timer = committed.size > 0 ? setTimeout(flush, intervalMs) : undefined;
    for (const [shardId, batchIds] of committed) enqueue({ shardId, batchIds });
    committed.clear();
  }

  /** Notifies the queue within the interval of what a shard has committed: a batch, or changes. */
  function notify(shardId: number, ...batchIds: string[]): void {
    committed.getOrInsertComputed(shardId, () => []).push(...batchIds);
    if (!timer) flush();
  }

  return { notify, flush };
}

/** Returns the fields of the attendee, null where the request has none. */
const attendeeIn = (request: RegistrationRequest) => ({
  fullName: request.fullName,
  emailAddress: request.emailAddress,
  phoneNumber: request.phoneNumber ?? null,
  gender: request.gender ?? null,
  tableOrSeat: request.tableOrSeat ?? null,
  extraData1: request.extraData1 ?? null,
  extraData2: request.extraData2 ?? null,
});

/** The content that two requests with the same idempotency key must share. */
const contentOf = (request: RegistrationRequest) => [request.organizedEventTicketID, attendeeIn(request)];

function toReservation(
  principal: Principal,
  request: RegistrationRequest,
  { key, holdSeconds }: CallOptions,
): Reservation {
  const { shardId, partnerId, eventId, duplicatePolicy, duplicateScope } = principal;
  const ticketId = request.organizedEventTicketID;
  const scope = duplicateScope === 'ticket' ? `${ticketId} ` : '';
  return {
    shardId,
    partnerId,
    eventId,
    ticketId,
    passCode: drawPassCode(),
    ...attendeeIn(request),
    attendeeDigest:
      duplicatePolicy === 'allow' ? null : uuidDigest(scope + request.emailAddress.toLowerCase()),
    returnsExisting: duplicatePolicy === 'return_existing',
    holdSeconds: holdSeconds ?? null,
    idempotency: idempotencyOf(key, () => [contentOf(request), holdSeconds]),
  };
}

function idempotencyOf(key: string | undefined, content: () => unknown[]): Idempotency | null {
  return key === undefined ? null : { key, fingerprint: uuidDigest(JSON.stringify(content())) };
}

/** 128 bits of SHA-256 in the form of a UUID, which Postgres stores and compares fastest. */
const uuidDigest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Returns the unguessable part of a pass reference: ten digits, the first not zero, from a secure random source. */
export const drawPassCode = () => randomInt(1_000_000_000, 10_000_000_000);
