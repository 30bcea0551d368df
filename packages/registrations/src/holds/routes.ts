import {
  answering,
  COMMON_FAILURES,
  DEFAULT_HOLD_SECONDS,
  Hold,
  HOLD_LIMIT,
  HoldPath,
  HoldRequest,
  MoreSeats,
  RegisterHeaders,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Call, Principal, Routes } from '@floodgate/http';
import type { Clock } from '@floodgate/service';
import { Type } from '@sinclair/typebox';
import type { FailingReply } from '../admission/admission-queue.ts';
import {
  bulkOutcomeOf,
  hasSeat,
  NO_HOLD,
  provokedCode,
  refusalOf,
  whyHoldTooLate,
  type BulkOutcome,
  type GrantedSeat,
} from '../answers.ts';
import type { Registrations } from '../register/commit-batch.ts';
import { toHold, toMoreSeats, type BulkReservation } from '../register/reservation.ts';
import { addConfirmRoute, addExtendRoute, addReleaseRoute, type HoldChangeOptions } from './change-routes.ts';
import { describeHold, type FoundHold, type HeldSeat } from './find-holds.ts';
import { addConfirmOrderRoute, addFindRoute, type OrderOptions } from './order-routes.ts';

export interface HoldsOptions extends HoldChangeOptions, OrderOptions {
  reads: Database;
  register: Registrations;
  answerWithinMs: number;
  clock: Clock | undefined;
}

const HOLD_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '30', '31', '32', '37', '40', '41', '91'];

/** The operations that sell from a basket: seats are held before the attendees are known. */
export function addHoldRoutes(api: Routes, options: HoldsOptions): void {
  addHoldRoute(api, options);
  addFindRoute(api, options.reads, options.answerWithinMs, options.clock);
  addReadRoute(api, options);
  addMoreSeatsRoute(api, options);
  addConfirmOrderRoute(api, options);
  addConfirmRoute(api, options);
  addExtendRoute(api, options);
  addReleaseRoute(api, options);
}

/** POST /events/holds: holds seats without attendees, all or none. */
function addHoldRoute(api: Routes, options: HoldsOptions) {
  const { register } = options;
  api.post(
    '/events/holds',
    {
      schema: {
        operationId: 'holdSeats',
        ...answering('Holds', Hold, HOLD_FAILURES),
        summary: 'Hold Seats',
        description:
          `Holds 1 to ${HOLD_LIMIT} seats of one or several tickets, all or none, before you know the ` +
          `attendees. Hold-For is the duration, by default ${DEFAULT_HOLD_SECONDS} seconds. Confirm Hold ` +
          'names the attendees and keeps the seats. Otherwise they are released when the hold expires. An ' +
          'Idempotency-Key covers the whole call.',
        headers: RegisterHeaders,
        answerHeader: 'Idempotent-Replayed',
        body: HoldRequest,
      },
      onRequest: register.refuseWhenFull,
      preHandler: countSeats,
    },
    async (request, reply) => {
      const { principal, headers, body } = request;
      const provoked = provokedByReference(principal, body.partnerReference, HOLD_FAILURES);
      if (provoked && provoked !== '91') return register.refuse(request, reply, provoked);
      const basket = toHold(principal, body, headers);
      return reserveSeats(options, request, reply, basket, { provoked });
    },
  );
}

const MORE_FAILURES: FailureCode[] = [...HOLD_FAILURES, '34', '35'];

/** POST /events/holds/{holdReference}/seats: adds seats to a hold, all or none. */
function addMoreSeatsRoute(api: Routes, options: HoldsOptions) {
  const { register, findHold } = options;
  api.post(
    '/events/holds/:holdReference/seats',
    {
      schema: {
        operationId: 'addSeats',
        ...answering('Holds', Hold, MORE_FAILURES),
        summary: 'Add Seats',
        description:
          'Adds seats to a hold, all or none. They are released together with its other seats, so extend the ' +
          `hold if the customer needs longer. A hold has at most ${HOLD_LIMIT} seats. The answer is the hold ` +
          'with all seats. The offer of a waiting list cannot get more seats. An Idempotency-Key covers the ' +
          'whole call.',
        params: HoldPath,
        headers: Type.Pick(RegisterHeaders, ['idempotency-key']),
        answerHeader: 'Idempotent-Replayed',
        body: MoreSeats,
      },
      onRequest: register.refuseWhenFull,
      preHandler: countSeats,
    },
    async (request, reply) => {
      const { principal, params, headers, body } = request;
      const hold = await findHold({ ...principal, holdId: params.holdReference });
      if (!hold) return reply.fail('34', { message: NO_HOLD });
      if (hold.isOffer) return reply.fail('35', { message: OFFER_IS_FULL });
      // A hold of the last second would end before its answer.
      if (!hold.secondsLeft) return reply.fail('35', { message: whyHoldIsFixed(hold) });
      const { partnerReference } = hold.seats[0]!;
      const provoked = provokedByReference(principal, partnerReference, MORE_FAILURES);
      if (provoked && provoked !== '91') return register.refuse(request, reply, provoked);
      if (hold.seats.length + seatsIn(body) > HOLD_LIMIT) return reply.fail('11', TOO_MANY_IN_HOLD);
      const { holdId, secondsLeft: holdSeconds } = hold;
      const basket = toMoreSeats(principal, body.tickets, { holdId, holdSeconds, partnerReference }, headers);
      return reserveSeats(options, request, reply, basket, { provoked, before: hold.seats });
    },
  );
}

const OFFER_IS_FULL = 'The offer of a waiting list cannot get more seats; hold them with Hold Seats';

/** Returns why a hold cannot get more seats. */
const whyHoldIsFixed = (hold: FoundHold) =>
  hold.seats.some(({ state }) => state === 'held') ? 'The hold has expired' : whyHoldTooLate(hold);

/** The body of a call that wants seats for a hold. */
type Wanted = Pick<HoldRequest, 'tickets'>;

async function countSeats(
  { body, countAs }: { body: Wanted; countAs: (units: number) => Promise<boolean> },
  reply: FailingReply<unknown>,
) {
  if (seatsIn(body) > HOLD_LIMIT) reply.fail('11', TOO_MANY);
  else await countAs(seatsIn(body));
}

/** The own reference of a hold stands for the address that provokes a code. */
const provokedByReference = (
  principal: Principal,
  partnerReference: string | null | undefined,
  codes: readonly FailureCode[],
) => provokedCode(principal, { emailAddress: `${partnerReference}@floodgate.invalid` }, codes);

/** The code that a call provokes, and the seats that its hold has already (`before`). */
interface ReservedSeats {
  provoked: FailureCode | undefined;
  before?: readonly HeldSeat[];
}

/** A reply that can say that its answer is a replay. */
interface SeatsReply<Answer> extends FailingReply<Answer> {
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/** Reserves the seats of a basket, and answers with the whole hold or with why there are none. */
async function reserveSeats<Answer>(
  options: HoldsOptions,
  request: Call & { body: Wanted; batchId?: string | undefined },
  reply: SeatsReply<Answer>,
  basket: BulkReservation,
  { provoked, before = [] }: ReservedSeats,
) {
  const { register } = options;
  const { principal } = request;
  const answer = await register.submit(request, basket);
  request.batchId = basket.batchId;
  const outcome = bulkOutcomeOf(answer, 'a hold');
  if (outcome.kind !== 'bulk') return register.refuse(request, reply, ...refusalOf(principal, outcome.kind));
  if (outcome.replayed) void reply.header('idempotent-replayed', 'true');
  const seats = outcome.outcomes.filter(hasSeat);
  if (seats.length < outcome.outcomes.length)
    return register.refuse(request, reply, ...refusalOfHold(principal, outcome, basket, request.body));
  const hold = outcome.replayed
    ? await findAgain(options, principal, seats[0]!.serial).catch(() => undefined)
    : holdOf(basket, seats, outcome, before);
  const isLost = provoked === '91' && !outcome.replayed;
  // If the hold cannot be read, its seats are held all the same.
  if (!hold || isLost) {
    reply.removeHeader('idempotent-replayed');
    return register.refuse(request, reply, '91');
  }
  return success(describeHold(principal, hold));
}

/** Finds the hold that the first call with an idempotency key has made. */
async function findAgain({ reads, findHold }: HoldsOptions, principal: Principal, serial: number) {
  const registration = reads.selectFrom('registrations').where('shard_id', '=', principal.shardId);
  const own = registration.where('serial', '=', serial).select('hold_id');
  return findHold({ ...principal, holdId: (await own.executeTakeFirstOrThrow()).hold_id! });
}

/** Returns the hold as it is after a call: the seats that it had `before`, and those that the call got. */
const holdOf = (
  { reservations }: BulkReservation,
  seats: readonly GrantedSeat[],
  { heldUntil }: BulkOutcome,
  before: readonly HeldSeat[],
): FoundHold => ({
  holdId: reservations[0]!.holdId!,
  seats: [
    ...before,
    ...seats.map(({ serial, passCode }, index): HeldSeat => {
      const { ticketId, partnerReference } = reservations[index]!;
      return {
        serial,
        passCode,
        ticketId,
        partnerReference,
        state: 'held',
        heldUntil: heldUntil ?? null,
        isExpired: false,
      };
    }),
  ],
});

/** Returns why a hold was refused, with the ticket that is to blame. */
function refusalOfHold(
  principal: Principal,
  { outcomes }: BulkOutcome,
  { reservations }: BulkReservation,
  { tickets }: Wanted,
) {
  for (const [index, seat] of outcomes.entries()) {
    if (hasSeat(seat) || seat.kind === 'group-refused') continue;
    const { ticketId } = reservations[index]!;
    const place = tickets.findIndex(({ organizedEventTicketID }) => organizedEventTicketID === ticketId);
    return refusalOf(principal, seat.kind, { limit: seat.limit, field: `tickets[${place}]` });
  }
  throw new Error('a hold was refused without a reason');
}

const TOO_MANY = {
  message: `tickets: together at most ${HOLD_LIMIT} seats`,
  invalidFields: [{ field: 'tickets', rule: 'maximum' }],
};

const TOO_MANY_IN_HOLD = {
  message: `tickets: with the seats that the hold has, together at most ${HOLD_LIMIT} seats`,
  invalidFields: [{ field: 'tickets', rule: 'maximum' }],
};

const seatsIn = ({ tickets }: Wanted) => tickets.reduce((sum, { seats }) => sum + seats, 0);

/** GET /events/holds/{holdReference}: the state of a hold. */
function addReadRoute(api: Routes, { findHold }: HoldsOptions) {
  api.get(
    '/events/holds/:holdReference',
    {
      schema: {
        operationId: 'getHold',
        ...answering('Holds', Hold, [...COMMON_FAILURES, '11', '34']),
        summary: 'Get Hold',
        description:
          'Returns the state of a hold that the same partner made under this event, with all its seats.',
        params: HoldPath,
      },
    },
    async ({ principal, params }, reply) => {
      const hold = await findHold({ ...principal, holdId: params.holdReference });
      return hold ? success(describeHold(principal, hold)) : reply.fail('34', { message: NO_HOLD });
    },
  );
}
