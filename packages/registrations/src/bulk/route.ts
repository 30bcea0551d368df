import {
  answersOf,
  BULK_BODY_LIMIT_BYTES,
  BULK_ITEM_FAILURES,
  BULK_LIMIT,
  BulkRegistrationAnswers,
  BulkRegistrationRequest,
  COMMON_FAILURES,
  failure,
  RegisterHeaders,
  ReplayedHeader,
  success,
  trimFullName,
} from '@floodgate/contract';
import {
  itemFaults,
  listInvalidFields,
  type preValidationAsyncHookHandler,
  type Routes,
} from '@floodgate/http';
import { answerTo, codeOf, type Refused } from '../register/answer-to.ts';
import { refuseAll } from '../register/outcome.ts';
import { refuseEarly } from '../register/refuse-early.ts';
import type { Registrar } from '../register/registrar.ts';
import { optionsIn } from '../register/route.ts';
import type { createTurns } from './turns.ts';

/** As many keep the event loop busy for almost a millisecond. */
const LARGE = 100;

/** POST /events/register/bulk: reserves seats for many attendees, and answers with an envelope for each. */
export function addBulkRoute(
  api: Routes,
  registrar: Pick<Registrar, 'registerBulk' | 'admit' | 'retryAfterSeconds'>,
  turns: ReturnType<typeof createTurns>,
): void {
  api.post(
    '/events/register/bulk',
    {
      schema: {
        operationId: 'registerInBulk',
        tags: ['Registrations'],
        summary: 'Register In Bulk',
        description:
          'Registers up to 1,000 attendees of one event. On "00" `responseData` holds an envelope for each, in order, as ' +
          'Register For Event would answer it. With mode "all" either every registration is 00 or none is: those that would ' +
          'have succeeded are answered 36. An Idempotency-Key covers the whole call.',
        headers: RegisterHeaders,
        answerHeaders: ReplayedHeader,
        itemFailures: BULK_ITEM_FAILURES,
        failures: [...COMMON_FAILURES, '11', '40', '41', '91'],
        body: BulkRegistrationRequest,
        response: answersOf(BulkRegistrationAnswers),
      },
      bodyLimit: BULK_BODY_LIMIT_BYTES,
      config: { countsBySize: true },
      // What is wrong with one of them keeps the others from nothing.
      attachValidation: true,
      // Made for a thousand unions, a serializer of the schema's own would be slower.
      serializerCompiler: () => JSON.stringify,
      onRequest: refuseEarly(registrar),
      preValidation: admitItems(registrar, turns),
    },
    async (request, reply) => {
      const faults = itemFaults(request, 'registrations');
      if (faults.ofCall.length > 0)
        return reply.fail('11', { message: faults.ofCall.join('; '), invalidFields: faults.fields });
      const { principal, headers } = request;
      const { registrations, mode } = request.body;
      const valid = registrations.filter((_, index) => !faults.byIndex.has(index));
      const isAll = mode === 'all';
      const isRefused = valid.length === 0 || (isAll && valid.length < registrations.length);
      const outcome = isRefused
        ? refuseAll(valid)
        : await registrar.registerBulk(principal, valid, isAll, optionsIn(headers));
      if (outcome.kind !== 'bulk') {
        if (outcome.kind === 'failed') throw new Error('a bulk call failed');
        return reply.fail(codeOf(outcome as Refused), {
          retryAfterSeconds: registrar.retryAfterSeconds(principal),
        });
      }
      if (outcome.replayed) void reply.header('idempotent-replayed', 'true');
      listInvalidFields(reply, faults.fields);
      const answers = outcome.outcomes.values();
      const answerAt = (rules?: readonly string[]) =>
        rules ? failure('11', rules.join('; ')) : answerTo(principal, answers.next().value!);
      return success(registrations.map((_, index) => answerAt(faults.byIndex.get(index))));
    },
  );
}

/** Returns the hook that counts the items of a call and lets large calls take turns, before the validator looks at any of them. */
function admitItems(
  registrar: Pick<Registrar, 'retryAfterSeconds'>,
  turns: ReturnType<typeof createTurns>,
): preValidationAsyncHookHandler {
  return async (request, reply) => {
    const body = (request.body ?? {}) as { registrations?: unknown };
    const { registrations } = body;
    if (!Array.isArray(registrations)) return;
    if (registrations.length > BULK_LIMIT) {
      // The validator then names the list, and everything else that is wrong, without looking at the items.
      body.registrations = Array(BULK_LIMIT + 1);
      return;
    }
    if (!(await request.countAs(registrations.length))) return;
    registrations.forEach(trimFullName);
    if (registrations.length >= LARGE && !(await turns.wait(request.principal, reply.raw)))
      reply.fail('90', { retryAfterSeconds: registrar.retryAfterSeconds(request.principal) });
  };
}
