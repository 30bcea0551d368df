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
  type Attendee,
  type FailureCode,
} from '@floodgate/contract';
import type { Call, InvalidField, Principal, Routes } from '@floodgate/http';
import { digestFor } from '../register/reserve-batch.ts';
import { duplicateMessage, provokedCode } from '../register/route.ts';
import { refusalOf } from '../status/routes.ts';
import { duplicatesIn, type FindTaken } from './duplicates.ts';
import {
  describeHold,
  NO_HOLD,
  secondsIn,
  type ChangedHold,
  type FindHold,
  type FoundHold,
  type HoldChange,
  type HoldGroups,
} from './holds.ts';

export type HoldChangeOptions = Record<`${keyof typeof CHANGED} hold`, HoldGroups> & {
  findHold: FindHold;
  findTaken: FindTaken;
};

const CHANGE_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '34', '35', '91'];
const CONFIRM_FAILURES: FailureCode[] = [...CHANGE_FAILURES, '33'];

const described = { ...answering('Holds', Hold, CHANGE_FAILURES), params: HoldPath };

/** POST /events/holds/{holdReference}/confirm: names the attendees, and keeps the seats. */
export function addConfirmRoute(api: Routes, options: HoldChangeOptions) {
  const answer = createAnswer(options, 'confirm');
  api.post(
    '/events/holds/:holdReference/confirm',
    {
      schema: {
        ...described,
        operationId: 'confirmHold',
        summary: 'Confirm Hold',
        description:
          'Registers the attendees of a hold, all or none: one attendee for each held seat, or one contact for all. Safe to repeat: a ' +
          'hold that was confirmed with the same names and addresses is answered "00" again. After the hold has expired, the answer is 35. ' +
          'The answer 33 names the attendees that are registered already, in X-Invalid-Fields, too.',
        failures: CONFIRM_FAILURES,
        namedFailures: ['33'],
        body: HoldConfirmation,
      },
      bodyLimit: BULK_BODY_LIMIT_BYTES,
      config: { countsBySize: true },
    },
    async (request, reply) => {
      const { principal, body } = request;
      const { attendees, contact } = body;
      if ((attendees === undefined) === (contact === undefined))
        return reply.fail('11', {
          message: 'Send either attendees or contact',
          invalidFields: [{ field: 'attendees', rule: 'oneOf' }],
        });
      const given: readonly Attendee[] = attendees ?? [contact!];
      const provoked = given
        .map((attendee) => provokedCode(principal, attendee, CONFIRM_FAILURES))
        .find((code) => code !== undefined);
      if (provoked && provoked !== '91') return options['confirm hold'].refuse(request, reply, provoked);
      const choose: Choose = (seats) => {
        if (attendees && attendees.length !== seats.length)
          return `attendees: ${seats.length}, one for each held seat`;
        return seats.map(({ serial, ticketId }, index) => {
          const attendee = contact ?? given[index]!;
          return { serial, attendee, attendeeDigest: digestFor(principal, ticketId, attendee) };
        });
      };
      const nameDuplicates = async (seats: ChangedHold['seats']) => {
        const digests = seats.flatMap(({ attendeeDigest }) => attendeeDigest ?? []);
        const taken = await options.findTaken({ ...principal, digests });
        return duplicatesIn(seats, attendees === undefined, taken, principal.duplicateScope);
      };
      return answer(request, reply, choose, { losesAnswer: provoked === '91', nameDuplicates });
    },
  );
}

/** POST /events/holds/{holdReference}/extend: moves the expiry of a hold. */
export function addExtendRoute(api: Routes, options: HoldChangeOptions) {
  const answer = createAnswer(options, 'extend');
  api.post(
    '/events/holds/:holdReference/extend',
    {
      schema: {
        ...described,
        operationId: 'extendHold',
        summary: 'Extend Hold',
        description:
          'Moves the expiry of a hold to Hold-For seconds from now, by default ' +
          `${DEFAULT_HOLD_SECONDS}. Together a hold lasts at most as long as the operator allows, by default 30 minutes; ` +
          '`dateExpires` is the result. An expiry never becomes earlier.',
        headers: Type.Pick(RegisterHeaders, ['hold-for']),
      },
    },
    async (request, reply) =>
      answer(request, reply, (seats) => seats, { seconds: secondsIn(request.headers) }),
  );
}

/** POST /events/holds/{holdReference}/release: gives back all seats of a hold, or some. */
export function addReleaseRoute(api: Routes, options: HoldChangeOptions) {
  const answer = createAnswer(options, 'release');
  api.post(
    '/events/holds/:holdReference/release',
    {
      schema: {
        ...described,
        operationId: 'releaseHold',
        summary: 'Release Hold',
        description:
          'Releases all held seats of a hold, or those of the given pass references. They can be sold again at once. Safe to repeat: a ' +
          'released hold is answered "00" again. To cancel a confirmed seat, call Cancel Registration.',
        body: HoldRelease,
      },
    },
    async (request, reply) => {
      const { passReferences } = request.body;
      const choose: Choose = (seats, hold) => {
        if (!passReferences) return seats;
        const wanted = new Set(passReferences);
        const shown = describeHold(request.principal, hold).seats;
        const named = hold.seats.filter((_, index) => wanted.has(shown[index]!.passReference));
        return named.length === wanted.size ? named : 'passReferences: seats of this hold';
      };
      return answer(request, reply, choose, {});
    },
  );
}

/** Returns the seats to change, or the rule that the request breaks. Gets the open seats. */
type Choose = (seats: FoundHold['seats'], hold: FoundHold) => ChangedHold['seats'] | string;

/** `losesAnswer`: makes the change and answers 91, unless it was made before. */
type Extras = Pick<ChangedHold, 'seconds'> & {
  losesAnswer?: boolean;
  /** Returns the message and the fields of a refusal, if it still finds the reason. */
  nameDuplicates?: (seats: ChangedHold['seats']) => Promise<Named | undefined>;
};

interface Named {
  message: string;
  invalidFields: readonly InvalidField[];
}

const CHANGED = { confirm: 'confirmed', extend: 'extended', release: 'released' } as const;
/** Undefined: the hold must be read. */
const STATE_AFTER = { confirm: 'reserved', extend: undefined, release: 'cancelled' } as const;

/** Returns a function that changes a hold and answers with its new state. */
function createAnswer({ findHold, ...options }: HoldChangeOptions, name: keyof typeof CHANGED) {
  const groups = options[`${name} hold`];
  return async function answer<Failed>(
    call: Call & { params: { holdReference: string } },
    reply: { fail(code: FailureCode, specifics: object): Failed },
    choose: Choose,
    { losesAnswer, nameDuplicates, ...extras }: Extras,
  ) {
    const query = { ...call.principal, holdId: call.params.holdReference };
    const hold = await findHold(query);
    if (!hold) return reply.fail('34', { message: NO_HOLD });
    const describe = (found: FoundHold) => success(describeHold(call.principal, found));
    const open = openSeats(hold);
    if (open.length === 0)
      return name === 'release' ? describe(hold) : reply.fail('35', { message: whyTooLate(hold) });
    const isHeld = open[0]!.state === 'held';
    const seats = choose(open, hold);
    if (typeof seats === 'string') return reply.fail(...faultOf(seats, hold, isHeld));
    const outcome = await groups.submit(call, { holdId: hold.holdId, seats, ...extras });
    const find = () => findHold(query).catch(() => undefined);
    if (outcome !== CHANGED[name]) {
      const why = await messagesOf(call.principal, outcome, find);
      const [code, specifics] = refusalOf(outcome as Exclude<typeof outcome, HoldChange>, why);
      const named = await nameIf(outcome, seats, nameDuplicates);
      return groups.refuse(call, reply, code, { ...specifics, ...named });
    }
    // If the new state is not known, the caller repeats the change, which is safe.
    const isLost = losesAnswer && isHeld;
    const current = isLost ? undefined : (afterChange(hold, seats, STATE_AFTER[name]) ?? (await find()));
    return current ? describe(current) : groups.refuse(call, reply, '91');
  };
}

/** Names the attendees that are registered already, if that is the outcome. The refusal does not depend on it. */
async function nameIf(outcome: unknown, seats: ChangedHold['seats'], name: Extras['nameDuplicates']) {
  return outcome === 'duplicate' ? name?.(seats).catch(() => undefined) : undefined;
}

/** Returns the messages of refused changes. Only a change that came too late needs a read: after the others, no time may be left. */
async function messagesOf(
  principal: Principal,
  outcome: unknown,
  find: () => Promise<FoundHold | undefined>,
) {
  const now = outcome === 'too-late' ? await find() : undefined;
  return { missing: NO_HOLD, duplicate: duplicateMessage(principal), 'too-late': now && whyTooLate(now) };
}

/** Returns the hold after a change of held seats. Undefined: it must be read. */
function afterChange(hold: FoundHold, changed: ChangedHold['seats'], state?: 'reserved' | 'cancelled') {
  const serials = new Set(changed.map(({ serial }) => serial));
  const seats = hold.seats.map((seat) =>
    seat.state === 'held' && serials.has(seat.serial) ? { ...seat, state: state! } : seat,
  );
  return state && { ...hold, seats };
}

/** Returns the held seats of a hold, or if there are none those that are not cancelled. */
function openSeats({ seats }: FoundHold) {
  const held = seats.filter(({ state }) => state === 'held');
  return held.length > 0 ? held : seats.filter(({ state }) => state !== 'cancelled');
}

/** Returns the answer to a request that breaks a rule. It may do so because the hold is confirmed already. */
function faultOf(rule: string, hold: FoundHold, isHeld: boolean): [FailureCode, object] {
  if (!isHeld) return ['35', { message: whyTooLate(hold) }];
  const field = rule.slice(0, rule.indexOf(':'));
  return ['11', { message: rule, invalidFields: [{ field, rule: 'items' }] }];
}

function whyTooLate(hold: FoundHold) {
  const [open] = openSeats(hold);
  if (open?.state === 'held')
    return 'A seat of the hold was released meanwhile; call Get Hold for the others';
  if (open) return 'The hold is confirmed already';
  return hold.seats.some(({ isExpired }) => isExpired)
    ? 'The hold has expired'
    : 'The seats of the hold were released';
}
