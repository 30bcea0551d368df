import { Type } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  DEFAULT_HOLD_SECONDS,
  Hold,
  HoldConfirmation,
  HoldPath,
  HoldRelease,
  RegisterHeaders,
  success,
  trimFullName,
  type Attendee,
  type FailureCode,
} from '@floodgate/contract';
import type { Call, Routes } from '@floodgate/http';
import { digestFor } from '../register/reserve-batch.ts';
import { provokedCode } from '../register/route.ts';
import { REFUSALS } from '../status/routes.ts';
import type { ChangedHold, HoldGroups } from './change-holds.ts';
import { describeHold, NO_HOLD, secondsIn, type FindHold, type FoundHold } from './find-holds.ts';

export interface HoldChangeOptions {
  findHold: FindHold;
  confirm: HoldGroups;
  extend: HoldGroups;
  release: HoldGroups;
}

const CHANGE_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '34', '35', '91'];
const CONFIRM_FAILURES: FailureCode[] = [...CHANGE_FAILURES, '33'];

const describeChange = <const Own extends object>(own: Own) => ({
  tags: ['Holds'],
  failures: CHANGE_FAILURES,
  params: HoldPath,
  response: answersOf(Hold),
  ...own,
});

/** The outcome of each change. */
const CHANGED = { confirm: 'confirmed', extend: 'extended', release: 'released' } as const;

/** POST /events/holds/{holdReference}/confirm: names the attendees, and keeps the seats. */
export function addConfirmRoute(api: Routes, options: HoldChangeOptions) {
  const answer = createAnswer(options, 'confirm');
  api.post(
    '/events/holds/:holdReference/confirm',
    {
      schema: describeChange({
        operationId: 'confirmHold',
        summary: 'Confirm Hold',
        description:
          'Registers the attendees of a hold, all or none: one attendee for each held seat, or one contact for all. Safe to repeat: a ' +
          'hold that was confirmed with the same names and addresses is answered "00" again. After the hold has expired, the answer is 35.',
        failures: CONFIRM_FAILURES,
        body: HoldConfirmation,
      }),
      bodyLimit: BULK_BODY_LIMIT_BYTES,
      config: { countsBySize: true },
      preValidation: (request, _reply, done) => {
        const { attendees, contact } = (request.body ?? {}) as Record<string, unknown>;
        for (const attendee of [contact].concat(Array.isArray(attendees) ? attendees : []))
          trimFullName(attendee);
        done();
      },
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
      if (provoked && provoked !== '91') return options.confirm.refuse(request, reply, provoked);
      const choose: Choose = (seats) => {
        if (attendees && attendees.length !== seats.length)
          return `attendees: ${seats.length}, one for each held seat`;
        return seats.map(({ serial, ticketId }, index) => {
          const attendee = contact ?? given[index]!;
          return { serial, attendee, attendeeDigest: digestFor(principal, ticketId, attendee) };
        });
      };
      return answer(request, reply, choose, { losesAnswer: provoked === '91' });
    },
  );
}

/** POST /events/holds/{holdReference}/extend: moves the expiry of a hold. */
export function addExtendRoute(api: Routes, options: HoldChangeOptions) {
  const answer = createAnswer(options, 'extend');
  api.post(
    '/events/holds/:holdReference/extend',
    {
      schema: describeChange({
        operationId: 'extendHold',
        summary: 'Extend Hold',
        description:
          'Moves the expiry of a hold to Hold-For seconds from now, by default ' +
          `${DEFAULT_HOLD_SECONDS}. Together a hold lasts at most as long as the operator allows, by default 30 minutes; ` +
          '`dateExpires` is the result. An expiry never becomes earlier.',
        headers: Type.Pick(RegisterHeaders, ['hold-for']),
      }),
      bodyLimit: BODY_LIMIT_BYTES,
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
      schema: describeChange({
        operationId: 'releaseHold',
        summary: 'Release Hold',
        description:
          'Releases all held seats of a hold, or those of the given pass references. They can be sold again at once. Safe to repeat: a ' +
          'released hold is answered "00" again. To cancel a confirmed seat, call Cancel Registration.',
        body: HoldRelease,
      }),
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      const { passReferences } = request.body;
      const choose: Choose = (seats, hold) => {
        if (!passReferences) return seats;
        const wanted = new Set(passReferences);
        const { seats: described } = describeHold(request.principal, hold);
        const named = hold.seats.filter((_, index) => wanted.has(described[index]!.passReference));
        return named.length === wanted.size ? named : 'passReferences: seats of this hold';
      };
      return answer(request, reply, choose, {});
    },
  );
}

interface HoldCall extends Call {
  params: { holdReference: string };
}

interface HoldReply<Failed> {
  fail(code: FailureCode, specifics: object): Failed;
}

/**
 * Returns the seats to change, or the rule that the request breaks. Gets the held seats, or if there are none those that are not
 * cancelled.
 */
type Choose = (seats: FoundHold['seats'], hold: FoundHold) => ChangedHold['seats'] | string;

interface Extras {
  seconds?: number;
  /** Makes the change and answers 91, unless it was made before. */
  losesAnswer?: boolean;
}

/** Returns a function that changes a hold and answers with its new state. */
function createAnswer({ findHold, ...options }: HoldChangeOptions, name: keyof typeof CHANGED) {
  const groups = options[name];
  return async function answer<Failed>(
    call: HoldCall,
    reply: HoldReply<Failed>,
    choose: Choose,
    { losesAnswer, ...extras }: Extras,
  ) {
    const query = { ...call.principal, holdId: call.params.holdReference };
    const hold = await findHold(query);
    if (!hold) return reply.fail('34', { message: NO_HOLD });
    const describe = (found: FoundHold) => success(describeHold(call.principal, found));
    const { seats, isHeld, refusal } = prepare(name, hold, choose);
    if (refusal) return reply.fail(...refusal);
    if (seats.length === 0) return describe(hold);
    const outcome = await groups.submit(call, { holdId: hold.holdId, seats, ...extras });
    const find = () => findHold(query).catch(() => undefined);
    if (outcome !== CHANGED[name]) return groups.refuse(call, reply, ...refusedAs(outcome, await find()));
    const isLost = losesAnswer && isHeld;
    const current = isLost ? undefined : (afterChange(name, hold, seats) ?? (await find()));
    // If the new state is not known, the caller repeats the change, which is safe.
    return current ? describe(current) : groups.refuse(call, reply, '91');
  };
}

interface Prepared {
  /** None: everything was released before. */
  seats: ChangedHold['seats'];
  /** Whether the seats were held. Otherwise the hold was confirmed before. */
  isHeld: boolean;
  refusal?: [FailureCode, object];
}

/** Returns the seats of a change, or why it is refused. */
function prepare(name: keyof typeof CHANGED, hold: FoundHold, choose: Choose): Prepared {
  const open = hold.seats.filter(({ state }) => state !== 'cancelled');
  const held = open.filter(({ state }) => state === 'held');
  const isHeld = held.length > 0;
  const none = { seats: [], isHeld };
  if (open.length === 0)
    return name === 'release' ? none : { ...none, refusal: ['35', { message: whyTooLate(hold) }] };
  const seats = choose(isHeld ? held : open, hold);
  return typeof seats === 'string' ? { ...none, refusal: faultOf(seats, hold, isHeld) } : { seats, isHeld };
}

const STATE_AFTER = { confirm: 'reserved', release: 'cancelled' } as const;

/** Returns the hold after a change of held seats. Undefined: it must be read. */
function afterChange(
  name: keyof typeof CHANGED,
  hold: FoundHold,
  changed: ChangedHold['seats'],
): FoundHold | undefined {
  if (name === 'extend') return undefined;
  const serials = new Set(changed.map(({ serial }) => serial));
  const seats = hold.seats.map((seat) =>
    seat.state === 'held' && serials.has(seat.serial) ? { ...seat, state: STATE_AFTER[name] } : seat,
  );
  return { ...hold, seats };
}

/** Returns the answer to a request that breaks a rule. It may do so because the hold is confirmed already. */
function faultOf(rule: string, hold: FoundHold, isHeld: boolean): [FailureCode, object] {
  if (!isHeld) return ['35', { message: whyTooLate(hold) }];
  const field = rule.slice(0, rule.indexOf(':'));
  return ['11', { message: rule, invalidFields: [{ field, rule: 'items' }] }];
}

function refusedAs(outcome: unknown, now: FoundHold | undefined): [FailureCode, { message?: string }] {
  if (outcome === null) return ['34', { message: NO_HOLD }];
  const code = REFUSALS[outcome as keyof typeof REFUSALS];
  return [code, outcome === 'too-late' && now ? { message: whyTooLate(now) } : {}];
}

function whyTooLate({ seats }: FoundHold): string {
  if (seats.some(({ state }) => state === 'held'))
    return 'A seat of the hold was released meanwhile; call Get Hold for the others';
  if (seats.some(({ state }) => state !== 'cancelled')) return 'The hold is confirmed already';
  return seats.some(({ isExpired }) => isExpired)
    ? 'The hold has expired'
    : 'The seats of the hold were released';
}
