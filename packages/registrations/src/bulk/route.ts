import {
  answering,
  BULK_BODY_LIMIT_BYTES,
  BULK_ITEM_FAILURES,
  BulkRegistrationAnswers,
  BulkRegistrationRequest,
  COMMON_FAILURES,
  failure,
  RegisterHeaders,
  success,
  type FailureCode,
  type RegistrationRequest,
} from '@floodgate/contract';
import {
  countRefusal,
  itemFaults,
  listInvalidFields,
  type Principal,
  type preValidationAsyncHookHandler,
  type Routes,
} from '@floodgate/http';
import type { Clock } from '@floodgate/service';
import { LARGE_UNITS } from '../admission/partner-queues.ts';
import {
  bulkOutcomeOf,
  isNew,
  provokedCode,
  refusalOf,
  REGISTER_FAILURES,
  responseOf,
  type BulkOutcome,
  type SeatOutcome,
} from '../answers.ts';
import type { Registrations } from '../register/commit-batch.ts';
import { toBulkReservation } from '../register/reservation.ts';
import { createLargeCalls, type WaitForStart } from './large-calls.ts';

/** Failures that are known before anything is reserved, by index. */
type Refused = Map<number, ReturnType<typeof failure>>;

const GROUP_REFUSED: SeatOutcome = { kind: 'group-refused', replayed: false };
const ITEM_FAILURES: readonly FailureCode[] = BULK_ITEM_FAILURES;
const PROVOKED = [...ITEM_FAILURES, ...REGISTER_FAILURES];

const SCHEMA = {
  operationId: 'registerInBulk',
  ...answering('Registrations', BulkRegistrationAnswers, [...COMMON_FAILURES, '11', '40', '41', '91']),
  summary: 'Register In Bulk',
  description:
    'Registers up to 1,000 attendees of one event. On "00", `responseData` has an envelope for each, in ' +
    'order, as Register For Event returns it. With mode "all", either every registration is 00 or none is: ' +
    'those that would have succeeded are 36. An Idempotency-Key covers the whole call.',
  headers: RegisterHeaders,
  answerHeader: 'Idempotent-Replayed' as const,
  itemFailures: BULK_ITEM_FAILURES,
  body: BulkRegistrationRequest,
};

/** POST /events/register/bulk: reserves seats for many attendees, and answers with an envelope for each. */
export function addBulkRoute(api: Routes, groups: Registrations, answerWithinMs: number, clock?: Clock) {
  api.post(
    '/events/register/bulk',
    {
      schema: SCHEMA,
      bodyLimit: BULK_BODY_LIMIT_BYTES,
      config: { countsBySize: true },
      // One invalid registration must not make the call fail for the others.
      attachValidation: true,
      // A serializer that is compiled from the schema is slower, because the answer has a thousand unions.
      serializerCompiler: () => JSON.stringify,
      onRequest: groups.refuseWhenFull,
      preValidation: admitItems(createLargeCalls(groups.servesSmallItems, answerWithinMs, clock)),
    },
    async (request, reply) => {
      const faults = itemFaults(request, 'registrations');
      if (faults.ofCall.length > 0)
        return reply.fail('11', { message: faults.ofCall.join('; '), invalidFields: faults.fields });
      const { principal, headers, body } = request;
      const refused: Refused = new Map(
        Array.from(faults.byIndex, ([index, rules]) => [index, failure('11', rules.join('; '))]),
      );
      const provoked = provokeItems(principal, body.registrations, refused);
      if (provoked && provoked !== '91') return groups.refuse(request, reply, provoked);
      const admitted = body.registrations.filter((_, index) => !refused.has(index));
      const isAll = body.mode === 'all';
      const reservation = toBulkReservation(principal, admitted, isAll, headers);
      const answer = canReserveNothing(admitted, refused, isAll)
        ? refuseAll(admitted)
        : await groups.submit(request, reservation);
      request.batchId = reservation.batchId;
      const outcome = bulkOutcomeOf(answer, 'a bulk call');
      if (outcome.kind !== 'bulk')
        return groups.refuse(request, reply, ...refusalOf(principal, outcome.kind));
      if (provoked === '91' && isNew(outcome)) return groups.refuse(request, reply, '91');
      if (outcome.replayed) void reply.header('idempotent-replayed', 'true');
      listInvalidFields(reply, faults.fields);
      const outcomes = outcome.outcomes.values();
      const answers = body.registrations.map(
        (_, index) => refused.get(index) ?? responseOf(principal, outcomes.next().value!),
      );
      countRefused(answers, principal);
      return success(answers);
    },
  );
}

function countRefused(
  answers: readonly { responseCode: '00' | FailureCode }[],
  { partnerId }: Principal,
): void {
  for (const { responseCode } of answers) if (responseCode !== '00') countRefusal(responseCode, partnerId);
}

/** Whether all registrations are refused already, or one is and the mode is "all". */
const canReserveNothing = (admitted: readonly unknown[], refused: Refused, isAll: boolean) =>
  admitted.length === 0 || (isAll && refused.size > 0);

const refuseAll = (registrations: readonly unknown[]): BulkOutcome => ({
  kind: 'bulk',
  outcomes: registrations.map(() => GROUP_REFUSED),
  replayed: false,
});

/**
 * Under a test event, adds the failures that e-mail addresses request to `refused`. Returns the code for the
 * whole call if an address requests a code that a single registration cannot have.
 */
function provokeItems(principal: Principal, registrations: readonly RegistrationRequest[], refused: Refused) {
  if (principal.mode !== 'test') return undefined;
  const ofCall: FailureCode[] = [];
  for (const [index, registration] of registrations.entries()) {
    const code = refused.has(index) ? undefined : provokedCode(principal, registration, PROVOKED);
    if (code && ITEM_FAILURES.includes(code)) refused.set(index, failure(code));
    else if (code) ofCall.push(code);
  }
  return ofCall.find((code) => code !== '91') ?? ofCall[0];
}

/**
 * Returns the hook that counts the registrations and delays a large call, before the validator checks any of
 * them.
 */
function admitItems(waitForStart: WaitForStart): preValidationAsyncHookHandler {
  return async (request, reply) => {
    const { registrations } = (request.body ?? {}) as { registrations?: unknown };
    if (!Array.isArray(registrations)) return;
    if (!(await request.countAs(registrations.length))) return;
    if (registrations.length >= LARGE_UNITS) await waitForStart(request.principal.partnerId, reply.raw);
  };
}
