import { Type } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  DEFAULT_HOLD_SECONDS,
  Hold,
  HOLD_LIMIT,
  HoldConfirmation,
  HoldPath,
  HoldRelease,
  HoldRequest,
  RegisterHeaders,
  success,
  trimFullName,
  type Attendee,
  type FailureCode,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { Call, Principal, Routes } from '@floodgate/http';
import type { Registrations } from '../register/commit-batch.ts';
import { digestFor, toHold, type Outcome, type Reservation } from '../register/reserve-batch.ts';
import { CODES, provokedCode, responseOf } from '../register/route.ts';
import { REFUSALS } from '../status/routes.ts';
import type { ChangedHold, HoldGroups } from './change-holds.ts';
import { describeHold, type FoundHold, type HoldQuery } from './find-holds.ts';

export interface HoldsOptions {
  reads: Database;
  register: Registrations;
  /** Finds one hold. Concurrent calls share a statement. */
  findHold: (query: HoldQuery) => Promise<FoundHold | undefined>;
  confirm: HoldGroups;
  extend: HoldGroups;
  release: HoldGroups;
  /** How long a hold can last. */
  mostSeconds: number;
}

const NO_HOLD = 'No such hold';
const HOLD_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '30', '31', '32', '37', '40', '41', '91'];
const CHANGE_FAILURES: FailureCode[] = [...COMMON_FAILURES, '11', '34', '35', '91'];
const CONFIRM_FAILURES: FailureCode[] = [...CHANGE_FAILURES, '33'];
const tags = ['Holds'];

/** The outcome of each change, and the reason of its refusal. */
const CHANGED = { confirm: 'confirmed', extend: 'extended', release: 'released' } as const;

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
  const { register, mostSeconds } = options;
  api.post(
    '/events/holds',
    {
      schema: {
        operationId: 'holdSeats',
        tags,
        summary: 'Hold Seats',
        description:
          `Holds 1 to ${HOLD_LIMIT} seats of one or several tickets, all or none, before you know the attendees. Hold-For is the ` +
          `duration, by default ${DEFAULT_HOLD_SECONDS} seconds. Confirm Hold names the attendees and keeps the seats. Otherwise they ` +
          'are released when the hold expires. An Idempotency-Key covers the whole call.',
        headers: RegisterHeaders,
        answerHeader: 'Idempotent-Replayed',
        failures: HOLD_FAILURES,
        body: HoldRequest,
        response: answersOf(Hold),
      },
      bodyLimit: BODY_LIMIT_BYTES,
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
      const seconds = Math.min(secondsIn(headers), mostSeconds);
      const { holdId, ...hold } = toHold(principal, body, seconds, headers);
      const outcome = await register.submit(request, hold);
      request.batchId = hold.batchId;
      if (outcome.kind === 'failed') throw new Error('a hold failed');
      const refusal = refusalOf(principal, outcome, hold.reservations, body);
      if (refusal) return register.refuse(request, reply, ...refusal);
      const granted = outcome as Granted;
      const found = granted.replayed
        ? await findAgain(options, principal, granted).catch(() => undefined)
        : holdOf(holdId, hold.reservations, granted, seconds);
      const isLost = provoked === '91' && !granted.replayed;
      // If the hold cannot be read, its seats are held all the same.
      if (!found || isLost) return register.refuse(request, reply, '91');
      if (granted.replayed) void reply.header('idempotent-replayed', 'true');
      return success(describeHold(principal, found));
    },
  );
}

/** Finds the hold that the first call with an idempotency key has made. */
async function findAgain(
  { reads, findHold }: HoldsOptions,
  principal: Principal,
  { outcomes: [first] }: Granted,
) {
  const registration = reads.selectFrom('registrations').where('shard_id', '=', principal.shardId);
  const own = registration.where('serial', '=', first!.serial).select('hold_id');
  return findHold({ ...principal, holdId: (await own.executeTakeFirstOrThrow()).hold_id! });
}

/** Returns the hold that a call has made. */
const holdOf = (
  holdId: string,
  reservations: readonly Reservation[],
  { outcomes, heldAt }: Granted,
  seconds: number,
): FoundHold => ({
  holdId,
  seats: outcomes.map((seat, index) => ({
    ...reservations[index]!,
    ...seat,
    state: 'held',
    heldUntil: new Date(heldAt.getTime() + seconds * 1_000),
  })),
});

const secondsIn = ({ 'hold-for': seconds }: { 'hold-for'?: string | undefined }) =>
  Number(seconds ?? DEFAULT_HOLD_SECONDS);

/** The outcome of a call that got all its seats. */
interface Granted {
  outcomes: { serial: number; passCode: number }[];
  replayed: boolean;
  heldAt: Date;
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
        tags,
        summary: 'Get Hold',
        description:
          'Returns the state of a hold that the same partner made under this event, with all its seats.',
        failures: [...COMMON_FAILURES, '11', '34'],
        params: HoldPath,
        response: answersOf(Hold),
      },
    },
    async ({ principal, params }, reply) => {
      const found = await findHold({ ...principal, holdId: params.holdReference });
      return found ? success(describeHold(principal, found)) : reply.fail('34', { message: NO_HOLD });
    },
  );
}

/** POST /events/holds/{holdReference}/confirm: names the attendees, and keeps the seats. */
function addConfirmRoute(api: Routes, options: HoldsOptions) {
  const answer = createAnswer(options, 'confirm');
  api.post(
    '/events/holds/:holdReference/confirm',
    {
      schema: {
        operationId: 'confirmHold',
        tags,
        summary: 'Confirm Hold',
        description:
          'Registers the attendees of a hold, all or none: one attendee for each held seat, or one contact for all. Safe to repeat: a ' +
          'hold that was confirmed with the same names and addresses is answered "00" again. After the hold has expired, the answer is 35.',
        failures: CONFIRM_FAILURES,
        params: HoldPath,
        body: HoldConfirmation,
        response: answersOf(Hold),
      },
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
function addExtendRoute(api: Routes, options: HoldsOptions) {
  const answer = createAnswer(options, 'extend');
  api.post(
    '/events/holds/:holdReference/extend',
    {
      schema: {
        operationId: 'extendHold',
        tags,
        summary: 'Extend Hold',
        description:
          'Moves the expiry of a hold to Hold-For seconds from now, by default ' +
          `${DEFAULT_HOLD_SECONDS}. Together a hold lasts at most as long as the operator allows, by default 30 minutes; ` +
          '`dateExpires` is the result. An expiry never becomes earlier.',
        headers: Type.Pick(RegisterHeaders, ['hold-for']),
        failures: CHANGE_FAILURES,
        params: HoldPath,
        response: answersOf(Hold),
      },
      bodyLimit: BODY_LIMIT_BYTES,
    },
    async (request, reply) => {
      return answer(request, reply, (seats) => seats, { seconds: secondsIn(request.headers) });
    },
  );
}

/** POST /events/holds/{holdReference}/release: gives back all seats of a hold, or some. */
function addReleaseRoute(api: Routes, options: HoldsOptions) {
  const answer = createAnswer(options, 'release');
  api.post(
    '/events/holds/:holdReference/release',
    {
      schema: {
        operationId: 'releaseHold',
        tags,
        summary: 'Release Hold',
        description:
          'Releases all held seats of a hold, or those of the given pass references. They can be sold again at once. Safe to repeat: a ' +
          'released hold is answered "00" again. To cancel a confirmed seat, call Cancel Registration.',
        failures: CHANGE_FAILURES,
        params: HoldPath,
        body: HoldRelease,
        response: answersOf(Hold),
      },
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
function createAnswer({ findHold, ...options }: HoldsOptions, name: keyof typeof CHANGED) {
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
