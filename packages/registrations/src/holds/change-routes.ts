import { Type } from '@sinclair/typebox';
import {
  answering,
  BULK_BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  DEFAULT_HOLD_SECONDS,
  Hold,
  HoldConfirmation,
  HoldPath,
  HoldRelease,
  RegisterHeaders,
  success,
  type FailureCode,
} from '@floodgate/contract';
import type { Call, Principal, Routes } from '@floodgate/http';
import type { FailingReply } from '../admission/admission-queue.ts';
import { NO_HOLD, passReferenceIn, refusalOf, whyHoldTooLate } from '../answers.ts';
import type { CallFailure } from '../change/change-groups.ts';
import { holdSecondsIn } from '../register/reservation.ts';
import type { ChangedSeat, HoldGroups, HoldOutcome } from './change-holds.ts';
import {
  EITHER,
  namedIn,
  provokedByAny,
  refusalOfChange,
  refusalOfNumber,
  refusalOfRule,
  withAttendee,
} from './confirmation.ts';
import { findDuplicates, type Duplicates, type FindTaken } from './duplicates.ts';
import { describeHold, openSeats, type FindHold, type FoundHold, type HeldSeat } from './find-holds.ts';

// The hold is read before it is changed: an attendee's digest can depend on the ticket of the seat, the
// admission queue counts seats, and an unknown hold must not wait in it. The change itself answers with the
// hold as it is then.

export interface HoldChangeOptions {
  findHold: FindHold;
  findTaken: FindTaken;
  confirmHold: HoldGroups;
  extendHold: HoldGroups;
  releaseHold: HoldGroups;
}

const CHANGE_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '34', '35', '91'];
export const CONFIRM_FAILURES: FailureCode[] = [...CHANGE_FAILURES, '33'];
const SCHEMA = { ...answering('Holds', Hold, CHANGE_FAILURES), params: HoldPath };

/** POST /events/holds/{holdReference}/confirm: names the attendees, and keeps the seats. */
export function addConfirmRoute(api: Routes, { findHold, findTaken, confirmHold }: HoldChangeOptions) {
  api.post(
    '/events/holds/:holdReference/confirm',
    {
      schema: {
        ...SCHEMA,
        operationId: 'confirmHold',
        summary: 'Confirm Hold',
        description:
          'Registers the attendees of a hold, all or none: one attendee for each held seat, or one contact ' +
          'for all. Safe to repeat: a hold that was confirmed with the same names and addresses is answered ' +
          '"00" again. After the hold has expired, the answer is 35. The answer 33 names the attendees that ' +
          'are registered already, in X-Invalid-Fields, too.',
        failures: CONFIRM_FAILURES,
        namedFailures: ['33'],
        body: HoldConfirmation,
      },
      bodyLimit: BULK_BODY_LIMIT_BYTES,
      config: { countsBySize: true },
    },
    async (request, reply) => {
      const { principal, params, body } = request;
      const named = namedIn(body);
      if (!named) return reply.fail('11', EITHER);
      const provoked = provokedByAny(principal, named.attendees, CONFIRM_FAILURES);
      if (provoked && provoked !== '91') return confirmHold.refuse(request, reply, provoked);
      const hold = await findHold({ ...principal, holdId: params.holdReference });
      if (!hold) return reply.fail('34', { message: NO_HOLD });
      const open = openSeats(hold);
      const refusal = refusalOfNumber(hold, open, named);
      if (refusal) return reply.fail(...refusal);
      const seats = open.map((seat, index) => withAttendee(principal, seat, named, index));
      const outcome = await confirmHold.submit(request, { holdId: hold.holdId, seats });
      return answerChange(confirmHold, request, reply, outcome, {
        losesAnswer: provoked === '91' && open[0]!.state === 'held',
        findDuplicates: () => findDuplicates(findTaken, principal, seats, named.isContact),
      });
    },
  );
}

/** POST /events/holds/{holdReference}/extend: moves the expiry of a hold. */
export function addExtendRoute(api: Routes, { findHold, extendHold }: HoldChangeOptions) {
  api.post(
    '/events/holds/:holdReference/extend',
    {
      schema: {
        ...SCHEMA,
        operationId: 'extendHold',
        summary: 'Extend Hold',
        description:
          `Moves the expiry of a hold to Hold-For seconds from now, by default ${DEFAULT_HOLD_SECONDS}. ` +
          'Together a hold lasts at most as long as the operator allows, by default 30 minutes; ' +
          '`dateExpires` is the result. An expiry never becomes earlier.',
        headers: Type.Pick(RegisterHeaders, ['hold-for']),
      },
    },
    async (request, reply) => {
      const { principal, params, headers } = request;
      const hold = await findHold({ ...principal, holdId: params.holdReference });
      if (!hold) return reply.fail('34', { message: NO_HOLD });
      const seats = openSeats(hold);
      if (seats.length === 0) return reply.fail('35', { message: whyHoldTooLate(hold) });
      const seconds = holdSecondsIn(headers) ?? DEFAULT_HOLD_SECONDS;
      const outcome = await extendHold.submit(request, {
        holdId: hold.holdId,
        seats: namesOf(seats),
        seconds,
      });
      return answerChange(extendHold, request, reply, outcome);
    },
  );
}

/** POST /events/holds/{holdReference}/release: gives back all seats of a hold, or some. */
export function addReleaseRoute(api: Routes, { findHold, releaseHold }: HoldChangeOptions) {
  api.post(
    '/events/holds/:holdReference/release',
    {
      schema: {
        ...SCHEMA,
        operationId: 'releaseHold',
        summary: 'Release Hold',
        description:
          'Releases all held seats of a hold, or those of the given pass references. They can be sold again ' +
          'at once. Safe to repeat: a released hold is answered "00" again. To cancel a confirmed seat, call ' +
          'Cancel Registration.',
        body: HoldRelease,
      },
    },
    async (request, reply) => {
      const { principal, params, body } = request;
      const hold = await findHold({ ...principal, holdId: params.holdReference });
      if (!hold) return reply.fail('34', { message: NO_HOLD });
      const open = openSeats(hold);
      if (open.length === 0) return success(describeHold(principal, hold));
      const seats = body.passReferences ? seatsOf(principal, hold, body.passReferences) : open;
      if (!seats) return reply.fail(...refusalOfRule(hold, open, 'passReferences', 'seats of this hold'));
      const outcome = await releaseHold.submit(request, { holdId: hold.holdId, seats: namesOf(seats) });
      return answerChange(releaseHold, request, reply, outcome);
    },
  );
}

const namesOf = (seats: readonly HeldSeat[]): ChangedSeat[] => seats.map(({ serial }) => ({ serial }));

/** Returns the seats of a hold with these pass references, or undefined if one is not of the hold. */
function seatsOf(principal: Principal, hold: FoundHold, passReferences: readonly string[]) {
  const references = new Set(passReferences);
  const seats = hold.seats.filter((seat) => references.has(passReferenceIn(principal, seat)));
  return seats.length === references.size ? seats : undefined;
}

/** The part of an answer that only a confirmation has. */
interface ConfirmationAnswer {
  /** Makes the change and answers 91. */
  losesAnswer: boolean;
  /** Names the attendees that have a seat already. */
  findDuplicates: () => Promise<Duplicates | undefined>;
}

/** Answers with the hold as it is after a change, or with why it was not changed. */
async function answerChange<Answer>(
  groups: HoldGroups,
  call: Call,
  reply: FailingReply<Answer>,
  outcome: HoldOutcome | CallFailure,
  confirmation?: ConfirmationAnswer,
) {
  const { principal } = call;
  if (typeof outcome === 'string') return groups.refuse(call, reply, ...refusalOf(principal, outcome));
  const refusal = await refusalOfChange(principal, outcome, confirmation?.findDuplicates);
  if (refusal) return groups.refuse(call, reply, ...refusal);
  if (confirmation?.losesAnswer) return groups.refuse(call, reply, '91');
  return success(describeHold(principal, outcome.hold));
}
