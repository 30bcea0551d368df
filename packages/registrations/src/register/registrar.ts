import { createHash, randomInt, randomUUID } from 'node:crypto';
import type { RegistrationRequest } from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';
import { createSlots, type Logger, throttledWarn } from '@floodgate/service';
import { commitBatch, type CommitDependencies } from './commit-batch.ts';
import { createGroupCommit } from './group-commit.ts';
import { createLockedTickets } from './locked-tickets.ts';
import { OVERLOADED, UNKNOWN, type Outcome } from './outcome.ts';
import {
  reservationsOf,
  seatsOf,
  type BulkReservation,
  type Order,
  type Reservation,
} from './reserve-batch.ts';
import type { WaitingRoomOptions } from './waiting-room.ts';

type Limits = Omit<WaitingRoomOptions<Order>, 'seatsOf'>;

export interface RegistrarOptions
  extends
    Pick<CommitDependencies, 'db' | 'isCluster' | 'onCommitted' | 'retentionHours' | 'holdSharePercent'>,
    Limits {
  log: Logger;
}

export type Registrar = ReturnType<typeof createRegistrar>;

/**
 * Of the time for an answer, what a group may wait for a row that another transaction has locked. Longer than the groups of
 * other APIs lock it. A place in line is a wait of its own, and two waits are less than what a batch may take.
 */
const LOCK_SHARE = 1 / 4;

/** Groups of all shards that are under way at once: as many as keep Postgres busy. More would each take longer. */
const GROUPS_AT_ONCE = 8;
/** A group that takes longer waits for somebody, and does not count among them. */
const PATIENCE_MS = 250;

/** What a call says beside its registrations. */
export interface CallOptions {
  /** Its Idempotency-Key. */
  key?: string | undefined;
  /** For how long its seats are held, unless they are confirmed; missing: for good. */
  holdSeconds?: number | undefined;
}

/** Returns what registers attendees: it collects what arrives into batches and answers when a batch has committed. */
export function createRegistrar({ log, ...options }: RegistrarOptions) {
  const warn = throttledWarn('a batch did not commit');
  const keysInProgress = new Set<string>();
  const locked = createLockedTickets(log);
  const deps: CommitDependencies = {
    ...options,
    locked,
    suspects: new Set(),
    lockWithinMs: Math.round(options.answerWithinMs * LOCK_SHARE),
    onFailure: (error, facts) => warn(log, { err: error, ...facts }),
    resolveWithinMs: options.answerWithinMs,
  };
  const inSlot = createSlots(GROUPS_AT_ONCE, PATIENCE_MS);
  const openGroup = () =>
    createGroupCommit<Order, Outcome>({
      ...options,
      commit: (orders) => inSlot(() => commitBatch(deps, orders)),
      seatsOf,
      isCommitDear: options.isCluster,
      overloaded: OVERLOADED,
      unknown: UNKNOWN,
    });
  // One under way in each shard, so that a slow one delays its own registrations and no others.
  const groups = new Map<number, ReturnType<typeof openGroup>>();
  const groupOf = (shardId: number) => {
    const group = groups.get(shardId) ?? openGroup();
    groups.set(shardId, group);
    return group;
  };
  /** Resolves when it is committed or certainly refused; never rejects. One with the same key has to be answered before. */
  function submit(principal: PartnerPrincipal, order: Order, key?: string) {
    const { partnerId, eventId, shardId } = principal;
    const group = groupOf(shardId);
    if (reservationsOf([order]).some((reservation) => locked.has(reservation)))
      return Promise.resolve(OVERLOADED);
    if (key === undefined) return group.submit(order, principal);
    const scopedKey = `${partnerId}/${eventId}/${key}`;
    if (keysInProgress.has(scopedKey)) return Promise.resolve<Outcome>({ kind: 'in-progress' });
    keysInProgress.add(scopedKey);
    return group.submit(order, principal).finally(() => keysInProgress.delete(scopedKey));
  }
  return {
    /** Returns whether a registration may come now. One that may not is to be answered `overloaded`, and counted as that. */
    admit: (principal: PartnerPrincipal) => groupOf(principal.shardId).admit(principal),
    /** Seconds until those who wait for the same shard will have been served, as far as the last groups tell. */
    retryAfterSeconds: ({ shardId }: PartnerPrincipal) => groupOf(shardId).secondsToDrain(),
    /** Resolves when everything that was accepted for registration is answered. */
    drain: async () => void (await Promise.all([...groups.values()].map((group) => group.drain()))),
    /** Registers one attendee. Resolves when the seat is committed or certainly refused; never rejects. */
    register(
      principal: PartnerPrincipal,
      request: RegistrationRequest,
      call: CallOptions = {},
    ): Promise<Outcome> {
      return submit(principal, toReservation(principal, request, call), call.key);
    },
    /**
     * Registers several attendees of one call, at least one, and answers with an outcome for each in order, unless the call as a
     * whole is refused. Never rejects. `isAll`: all of them or none.
     */
    registerBulk(
      principal: PartnerPrincipal,
      requests: readonly RegistrationRequest[],
      isAll: boolean,
      call: CallOptions = {},
    ): Promise<Outcome> {
      return submit(principal, toBulk(principal, requests, isAll, call), call.key);
    },
  };
}

function toBulk(
  principal: PartnerPrincipal,
  requests: readonly RegistrationRequest[],
  isAll: boolean,
  { key, holdSeconds }: CallOptions,
): BulkReservation {
  const reservations = requests.map((request) => toReservation(principal, request, { holdSeconds }));
  const asked = reservations.map((one) => [one.ticketId, ...ATTENDEE.map((field) => one[field])]);
  // Without a key it gets one that no partner can send: asked again after a lost connection, it is answered as before.
  const idempotency = {
    key: key ?? `bulk ${randomUUID()}`,
    fingerprint: uuidDigest(JSON.stringify([isAll, asked, ...held(holdSeconds)])),
  };
  return { reservations, isAll, idempotency };
}

const ATTENDEE = [
  'fullName',
  'emailAddress',
  'phoneNumber',
  'gender',
  'tableOrSeat',
  'extraData1',
  'extraData2',
] as const;

function toReservation(
  principal: PartnerPrincipal,
  request: RegistrationRequest,
  { key, holdSeconds }: CallOptions,
): Reservation {
  const { shardId, partnerId, eventId, duplicatePolicy } = principal;
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
    shardId,
    partnerId,
    eventId,
    ticketId,
    passCode: drawPassCode(),
    ...attendee,
    attendeeDigest: attendeeDigest(principal, request),
    returnsExisting: duplicatePolicy === 'return_existing',
    holdSeconds: holdSeconds ?? null,
    idempotency:
      key === undefined
        ? null
        : { key, fingerprint: uuidDigest(JSON.stringify([ticketId, attendee, ...held(holdSeconds)])) },
  };
}

/** What an attendee can have only once. Under a test event everybody has one, so that a reset finds them by their index. */
function attendeeDigest(
  { mode, duplicatePolicy, duplicateScope }: PartnerPrincipal,
  { emailAddress, organizedEventTicketID }: RegistrationRequest,
): string | null {
  if (duplicatePolicy === 'allow') return mode === 'test' ? randomUUID() : null;
  const once = duplicateScope === 'ticket' ? `${organizedEventTicketID} ` : '';
  return uuidDigest(once + emailAddress.toLowerCase());
}

/** What a fingerprint says of it: nothing where there is nothing to say, as in those of the release before. */
const held = (holdSeconds: number | undefined) => (holdSeconds === undefined ? [] : [holdSeconds]);

/** 128 bits of SHA-256 in the form of a UUID: Postgres compares and stores those best. */
function uuidDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Returns the unguessable part of a pass reference: ten digits, the first not zero, from a secure random source. */
export function drawPassCode(): number {
  return randomInt(1_000_000_000, 10_000_000_000);
}
