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
import type { Registrations } from '../register/commit-batch.ts';
import { CODES, toHold, type Outcome, type Reservation } from '../register/reserve-batch.ts';
import { provokedCode, responseOf } from '../register/route.ts';
import { addConfirmRoute, addExtendRoute, addReleaseRoute, type HoldChangeOptions } from './change-routes.ts';
import { describeHold, NO_HOLD, secondsIn, type FoundHold } from './holds.ts';

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
          `Holds 1 to ${HOLD_LIMIT} seats of one or several tickets, all or none, before you know the attendees. Hold-For is the ` +
          `duration, by default ${DEFAULT_HOLD_SECONDS} seconds. Confirm Hold names the attendees and keeps the seats. Otherwise they ` +
          'are released when the hold expires. An Idempotency-Key covers the whole call.',
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
      const hold = toHold(principal, body, secondsIn(headers), headers);
      const outcome = await register.submit(request, hold);
      request.batchId = hold.batchId;
      if (outcome.kind === 'failed') throw new Error('a hold failed');
      const granted = outcome as Granted;
      if (granted.replayed) void reply.header('idempotent-replayed', 'true');
      const refusal = refusalOf(principal, outcome, hold.reservations, body);
      if (refusal) return register.refuse(request, reply, ...refusal);
      const found = granted.replayed
        ? await findAgain(options, principal, granted.outcomes[0]!.serial).catch(() => undefined)
        : holdOf(hold.reservations, granted);
      const isLost = provoked === '91' && !granted.replayed;
      // If the hold cannot be read, its seats are held all the same.
      if (!found || isLost) return register.refuse(request, reply.removeHeader('idempotent-replayed'), '91');
      return success(describeHold(principal, found));
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
const holdOf = (reservations: readonly Reservation[], { outcomes, heldUntil }: Granted): FoundHold => ({
  holdId: reservations[0]!.holdId!,
  seats: outcomes.map((seat, index) => ({
    ...reservations[index]!,
    ...seat,
    state: 'held',
    heldUntil,
  })),
});

/** The outcome of a call that got all its seats. */
interface Granted {
  outcomes: { serial: number; passCode: number }[];
  replayed: boolean;
  heldUntil: Date;
}

/** Returns the code and message of a hold that was refused, with the ticket that is to blame; null if it got its seats. */
function refusalOf(
  principal: Principal,
  outcome: Outcome,
  reservations: readonly Reservation[],
  { tickets }: HoldRequest,
): [FailureCode, { message?: string }] | null {
  if (outcome.kind !== 'bulk') return [CODES[outcome.kind as keyof typeof CODES], {}];
  const refused = outcome.outcomes.findIndex(({ kind }) => kind !== 'registered' && kind !== 'group-refused');
  if (refused < 0) return null;
  const { responseCode, responseMessage } = responseOf(principal, outcome.outcomes[refused]!);
  const { ticketId } = reservations[refused]!;
  const place = tickets.findIndex((one) => one.organizedEventTicketID === ticketId);
  return [responseCode as FailureCode, { message: `tickets[${place}]: ${responseMessage}` }];
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
      const found = await findHold({ ...principal, holdId: params.holdReference });
      return found ? success(describeHold(principal, found)) : reply.fail('34', { message: NO_HOLD });
    },
  );
}
