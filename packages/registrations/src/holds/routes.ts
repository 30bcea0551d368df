import { Type } from '@sinclair/typebox';
import {
  answersOf,
  BODY_LIMIT_BYTES,
  BULK_BODY_LIMIT_BYTES,
  COMMON_FAILURES,
  DEFAULT_HOLD_SECONDS,
  failure,
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
import { digestOfAttendee, toHold, type SeatOutcome } from '../register/reserve-batch.ts';
import { CODES, provokedCode } from '../register/route.ts';
import type { RegistrationRow } from '../status/find-registrations.ts';
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
function addHoldRoute(api: Routes, { reads, register, findHold, mostSeconds }: HoldsOptions) {
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
      preHandler: async (request) => void (await request.countAs(seatsIn(request.body as HoldRequest))),
    },
    async (request, reply) => {
      const { principal, headers, body } = request;
      if (seatsIn(body) > HOLD_LIMIT)
        return reply.fail('11', {
          message: `tickets: together at most ${HOLD_LIMIT} seats`,
          invalidFields: [{ field: 'tickets', rule: 'maximum' }],
        });
      const provoked = provokedCode(
        principal,
        { emailAddress: `${body.partnerReference}@floodgate.invalid` },
        HOLD_FAILURES,
      );
      if (provoked) return register.refuse(request, reply, provoked);
      const seconds = Math.min(Number(headers['hold-for'] ?? DEFAULT_HOLD_SECONDS), mostSeconds);
      const { holdId, ...hold } = toHold(principal, body, seconds, headers);
      const outcome = await register.submit(request, hold);
      request.batchId = hold.batchId;
      if (outcome.kind !== 'bulk') {
        if (outcome.kind === 'failed') throw new Error('a hold failed');
        return register.refuse(request, reply, CODES[outcome.kind as keyof typeof CODES]);
      }
      const refused = outcome.outcomes.findIndex(isRefused);
      if (refused >= 0) {
        const code = CODES[outcome.outcomes[refused]!.kind as keyof typeof CODES];
        const message = `Ticket ${hold.reservations[refused]!.ticketId}: ${failure(code).responseMessage}`;
        return register.refuse(request, reply, code, { message });
      }
      if (outcome.replayed) void reply.header('idempotent-replayed', 'true');
      const [first] = outcome.outcomes as { serial: number }[];
      const made = outcome.replayed ? holdOf(reads, principal, first!.serial) : Promise.resolve(holdId);
      const found = await made.then((id) => findHold({ ...principal, holdId: id })).catch(() => undefined);
      // The seats are held, but the answer is not known.
      return found ? success(describeHold(found)) : register.refuse(request, reply, '91');
    },
  );
}

const seatsIn = ({ tickets }: HoldRequest) => tickets.reduce((sum, { seats }) => sum + seats, 0);

const isRefused = ({ kind }: SeatOutcome) => kind !== 'registered' && kind !== 'group-refused';

/** Returns the hold of a registration. */
async function holdOf(reads: Database, { shardId }: Principal, serial: number) {
  const registration = reads.selectFrom('registrations').select('hold_id').where('shard_id', '=', shardId);
  return (await registration.where('serial', '=', serial).executeTakeFirstOrThrow()).hold_id!;
}

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
      return found ? success(describeHold(found)) : reply.fail('34', { message: NO_HOLD });
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
        failures: [...CHANGE_FAILURES, '33'],
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
      for (const attendee of given) {
        const provoked = provokedCode(principal, attendee, [...CHANGE_FAILURES, '33']);
        if (provoked) return options.confirm.refuse(request, reply, provoked);
      }
      return answer(request, reply, (seats) => {
        if (attendees && attendees.length !== seats.length)
          return `attendees: ${seats.length}, one for each held seat`;
        return seats.map(({ serial, ticketId }, index) => {
          const attendee = contact ?? given[index]!;
          const isUnique = principal.duplicatePolicy !== 'allow';
          const attendeeDigest = isUnique
            ? digestOfAttendee(principal, ticketId, attendee.emailAddress)
            : null;
          return { serial, attendee, attendeeDigest };
        });
      });
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
      const seconds = Number(request.headers['hold-for'] ?? DEFAULT_HOLD_SECONDS);
      return answer(request, reply, (seats) => seats, seconds);
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
      return answer(request, reply, (seats, hold) => {
        if (!passReferences) return seats;
        const wanted = new Set(passReferences);
        const named = hold.seats.filter((_, index) =>
          wanted.has(describeHold(hold).seats[index]!.passReference),
        );
        return named.length === wanted.size ? named : 'passReferences: seats of this hold';
      });
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
 * Returns a function that changes a hold and answers with its new state. `choose` gets the held seats, or if there are none those that
 * are not cancelled. It returns the seats to change, or the rule that the request breaks.
 */
function createAnswer({ findHold, ...options }: HoldsOptions, name: keyof typeof CHANGED) {
  const groups = options[name];
  return async function answer<Failed>(
    call: HoldCall,
    reply: HoldReply<Failed>,
    choose: (seats: RegistrationRow[], hold: FoundHold) => ChangedHold['seats'] | string,
    seconds?: number,
  ) {
    const query = { ...call.principal, holdId: call.params.holdReference };
    const hold = await findHold(query);
    if (!hold) return reply.fail('34', { message: NO_HOLD });
    const open = hold.seats.filter(({ state }) => state !== 'cancelled');
    const held = open.filter(({ state }) => state === 'held');
    if (open.length === 0 && name === 'release') return success(describeHold(hold));
    const chosen = choose(held.length > 0 ? held : open, hold);
    if (held.length === 0 && typeof chosen === 'string')
      return reply.fail('35', { message: whyTooLate(hold) });
    if (typeof chosen === 'string') {
      const [field] = chosen.split(':') as [string];
      return reply.fail('11', { message: chosen, invalidFields: [{ field, rule: 'items' }] });
    }
    const item = { holdId: hold.holdId, seats: chosen, ...(seconds !== undefined && { seconds }) };
    const outcome = chosen.length === 0 ? 'too-late' : await groups.submit(call, item);
    if (outcome === null) return reply.fail('34', { message: NO_HOLD });
    const now = await findHold(query).catch(() => undefined);
    if (outcome === CHANGED[name])
      // The change is committed, but the new state is not known. It is safe to repeat.
      return now ? success(describeHold(now)) : groups.refuse(call, reply, '91');
    const code = REFUSALS[outcome as keyof typeof REFUSALS];
    return groups.refuse(
      call,
      reply,
      code,
      outcome === 'too-late' && now ? { message: whyTooLate(now) } : {},
    );
  };
}

function whyTooLate({ seats }: FoundHold): string {
  if (seats.some(({ state }) => state === 'held'))
    return 'A seat of the hold was released meanwhile; call Get Hold for the others';
  if (seats.some(({ state }) => state !== 'cancelled')) return 'The hold is confirmed already';
  return seats.some(({ isExpired }) => isExpired)
    ? 'The hold has expired'
    : 'The seats of the hold were released';
}
