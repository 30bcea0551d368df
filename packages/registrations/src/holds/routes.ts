import {
  answering,
  COMMON_FAILURES,
  DEFAULT_HOLD_SECONDS,
  Hold,
  HOLD_LIMIT,
  HoldPath,
  HoldRequest,
  RegisterHeaders,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Principal, Routes } from '@floodgate/http';
import {
  bulkOutcomeOf,
  hasSeat,
  NO_HOLD,
  provokedCode,
  refusalOf,
  type BulkOutcome,
  type GrantedSeat,
} from '../answers.ts';
import type { Registrations } from '../register/commit-batch.ts';
import { toHold, type BulkReservation } from '../register/reservation.ts';
import { addConfirmRoute, addExtendRoute, addReleaseRoute, type HoldChangeOptions } from './change-routes.ts';
import { describeHold, type FoundHold } from './find-holds.ts';

export interface HoldsOptions extends HoldChangeOptions {
  reads: Database;
  register: Registrations;
}

const HOLD_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '30', '31', '32', '37', '40', '41', '91'];

/** The operations that sell from a basket: seats are held before the attendees are known. */
export function addHoldRoutes(api: Routes, options: HoldsOptions): void {
  addHoldRoute(api, options);
  addReadRoute(api, options);
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
      preHandler: async ({ body, countAs }, reply) => {
        if (seatsIn(body) > HOLD_LIMIT) reply.fail('11', TOO_MANY);
        else await countAs(seatsIn(body));
      },
    },
    async (request, reply) => {
      const { principal, headers, body } = request;
      const emailAddress = `${body.partnerReference}@floodgate.invalid`;
      const provoked = provokedCode(principal, { emailAddress }, HOLD_FAILURES);
      if (provoked && provoked !== '91') return register.refuse(request, reply, provoked);
      const basket = toHold(principal, body, headers);
      const answer = await register.submit(request, basket);
      request.batchId = basket.batchId;
      const outcome = bulkOutcomeOf(answer, 'a hold');
      if (outcome.kind !== 'bulk')
        return register.refuse(request, reply, ...refusalOf(principal, outcome.kind));
      if (outcome.replayed) void reply.header('idempotent-replayed', 'true');
      const seats = outcome.outcomes.filter(hasSeat);
      if (seats.length < outcome.outcomes.length)
        return register.refuse(request, reply, ...refusalOfHold(principal, outcome, basket, body));
      const hold = outcome.replayed
        ? await findAgain(options, principal, seats[0]!.serial).catch(() => undefined)
        : holdOf(basket, seats, outcome);
      const isLost = provoked === '91' && !outcome.replayed;
      // If the hold cannot be read, its seats are held all the same.
      if (!hold || isLost) return register.refuse(request, reply.removeHeader('idempotent-replayed'), '91');
      return success(describeHold(principal, hold));
    },
  );
}

/** Finds the hold that the first call with an idempotency key has made. */
async function findAgain({ reads, findHold }: HoldsOptions, principal: Principal, serial: number) {
  const registration = reads.selectFrom('registrations').where('shard_id', '=', principal.shardId);
  const own = registration.where('serial', '=', serial).select('hold_id');
  return findHold({ ...principal, holdId: (await own.executeTakeFirstOrThrow()).hold_id! });
}

/** Returns the hold that a call has made. */
const holdOf = (
  { reservations }: BulkReservation,
  seats: readonly GrantedSeat[],
  { heldUntil }: BulkOutcome,
): FoundHold => ({
  holdId: reservations[0]!.holdId!,
  seats: seats.map(({ serial, passCode }, index) => {
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
});

/** Returns why a hold was refused, with the ticket that is to blame. */
function refusalOfHold(
  principal: Principal,
  { outcomes }: BulkOutcome,
  { reservations }: BulkReservation,
  { tickets }: HoldRequest,
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

const seatsIn = ({ tickets }: HoldRequest) => tickets.reduce((sum, { seats }) => sum + seats, 0);

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
