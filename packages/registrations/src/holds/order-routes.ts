import {
  answering,
  BULK_BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  ConfirmedHolds,
  HoldList,
  HoldsQuery,
  ORDER_LIMIT,
  OrderConfirmation,
  success,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Principal, Routes } from '@floodgate/http';
import type { Clock } from '@floodgate/service';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { NO_HOLD, refusalOf } from '../answers.ts';
import type { ChangedSeat, HoldOutcome, OrderGroups } from './change-holds.ts';
import { CONFIRM_FAILURES } from './change-routes.ts';
import {
  EITHER,
  namedIn,
  provokedByAny,
  refusalAt,
  refusalOfChange,
  refusalOfNumber,
  withAttendee,
  type NamedAttendees,
  type Refusal,
} from './confirmation.ts';
import { findDuplicates, type FindTaken } from './duplicates.ts';
import { describeHold, findHoldsOfReference, openSeats, type FindHold } from './find-holds.ts';

// An order is one or several holds, for example because a customer fills the basket in several steps.

/** GET /events/holds: the holds of an order, by the partner's own reference. */
export function addFindRoute(api: Routes, reads: Database, answerWithinMs: number, clock?: Clock) {
  // One connection for all callers: look-ups must not delay registrations.
  const queue = createFairQueue({ answerWithinMs, clock });
  api.get(
    '/events/holds',
    {
      schema: {
        operationId: 'findHolds',
        ...answering('Holds', HoldList, [...COMMON_FAILURES, '11']),
        summary: 'Find Holds',
        description:
          'Lists the holds that the same partner made under this event with its own reference, the newest ' +
          `first, at most ${ORDER_LIMIT}, with all their seats. The list is empty if there is none.`,
        querystring: HoldsQuery,
      },
    },
    async ({ principal, query, raw }) => {
      const isCallerConnected = () => !raw.socket.destroyed;
      const holds = await queue(principal.partnerId, isCallerConnected, () =>
        findHoldsOfReference(reads, principal, query.partnerReference, ORDER_LIMIT),
      );
      return success({ holds: holds.map((hold) => describeHold(principal, hold)) });
    },
  );
}

export interface OrderOptions {
  findHold: FindHold;
  findTaken: FindTaken;
  confirmOrder: OrderGroups;
}

const EACH_ONCE = {
  message: 'holds: each hold once',
  invalidFields: [{ field: 'holds', rule: 'uniqueItems' }],
};

/** POST /events/holds/confirm: confirms the holds of an order, all or none. */
export function addConfirmOrderRoute(api: Routes, { findHold, findTaken, confirmOrder }: OrderOptions) {
  api.post(
    '/events/holds/confirm',
    {
      schema: {
        operationId: 'confirmHolds',
        ...answering('Holds', ConfirmedHolds, CONFIRM_FAILURES),
        namedFailures: ['33'],
        summary: 'Confirm Holds',
        description:
          `Confirms 1 to ${ORDER_LIMIT} holds together, all or none, each with its attendees or its contact ` +
          'as in Confirm Hold. If one hold cannot be confirmed, none is, and the message begins with the ' +
          'place of that hold in the request. Safe to repeat: holds that were confirmed with the same names ' +
          'and addresses are answered "00" again.',
        body: OrderConfirmation,
      },
      bodyLimit: BULK_BODY_LIMIT_BYTES,
      config: { countsBySize: true },
    },
    async (request, reply) => {
      const { principal, body } = request;
      const wanted = wantedIn(body);
      if ('refusal' in wanted) return reply.fail(...wanted.refusal);
      const { names, references } = wanted;
      const attendees = names.flatMap((one) => one.attendees);
      const provoked = provokedByAny(principal, attendees, CONFIRM_FAILURES);
      if (provoked && provoked !== '91') return confirmOrder.refuse(request, reply, provoked);

      const found = await Promise.all(references.map((holdId) => findHold({ ...principal, holdId })));
      const order = orderOf(principal, found, names);
      if ('refusal' in order) return reply.fail(...order.refusal);
      const outcomes = await confirmOrder.submit(request, order);
      if (typeof outcomes === 'string')
        return confirmOrder.refuse(request, reply, ...refusalOf(principal, outcomes));
      const refusal = await refusalOfOrder(principal, findTaken, outcomes, order);
      if (refusal) return confirmOrder.refuse(request, reply, ...refusal);
      const wasHeld = found.some((hold) => hold?.secondsLeft != null);
      if (provoked === '91' && wasHeld) return confirmOrder.refuse(request, reply, '91');
      return success({ holds: outcomes.map(({ hold }) => describeHold(principal, hold)) });
    },
  );
}

/** Returns the holds of a request with their attendees, or why it is wrong. */
function wantedIn({
  holds,
}: OrderConfirmation): { refusal: Refusal } | { names: NamedAttendees[]; references: string[] } {
  const named = holds.map(namedIn);
  const names = named.filter((one) => one !== undefined);
  const references = [...new Set(holds.map(({ holdReference }) => holdReference))];
  if (names.length < holds.length)
    return { refusal: refusalAt('holds', named.indexOf(undefined), ['11', EITHER]) };
  if (references.length < holds.length) return { refusal: ['11', EACH_ONCE] };
  return { names, references };
}

/** A hold of an order, with the seats to confirm. */
interface OrderPart {
  holdId: string;
  seats: readonly ChangedSeat[];
  isContact: boolean;
}

/** Returns the holds of an order, or the refusal of the first that cannot be confirmed. */
function orderOf(
  principal: Principal,
  found: readonly Awaited<ReturnType<FindHold>>[],
  names: readonly NamedAttendees[],
): OrderPart[] | { refusal: Refusal } {
  const order: OrderPart[] = [];
  for (const [index, hold] of found.entries()) {
    const part = partOf(principal, hold, names[index]!);
    if ('refusal' in part) return { refusal: refusalAt('holds', index, part.refusal) };
    order.push(part);
  }
  return order;
}

/** Returns the part of a hold to confirm, or why it cannot be confirmed. */
function partOf(
  principal: Principal,
  hold: Awaited<ReturnType<FindHold>>,
  named: NamedAttendees,
): OrderPart | { refusal: Refusal } {
  if (!hold) return { refusal: ['34', { message: NO_HOLD }] };
  const open = openSeats(hold);
  const refusal = refusalOfNumber(hold, open, named);
  if (refusal) return { refusal };
  const seats = open.map((seat, index) => withAttendee(principal, seat, named, index));
  return { holdId: hold.holdId, seats, isContact: named.isContact };
}

/** Returns why an order was not confirmed: the refusal of its first hold that is refused. */
async function refusalOfOrder(
  principal: Principal,
  findTaken: FindTaken,
  outcomes: readonly HoldOutcome[],
  order: readonly OrderPart[],
): Promise<Refusal | undefined> {
  for (const [index, outcome] of outcomes.entries()) {
    const { seats, isContact } = order[index]!;
    const find = () => findDuplicates(findTaken, principal, seats, isContact);
    const refusal = await refusalOfChange(principal, outcome, find);
    if (refusal) return refusalAt('holds', index, refusal);
  }
  return undefined;
}
