import { BULK_ITEM_FAILURES, OPERATION_FAILURES, type Envelope, type Operation } from './contract.ts';
import type { BulkItemResult, InvalidField, OperationResults, ResultOf } from './results.ts';
import type { Limits, Outcome } from './retry.ts';
import type { Answer, Call } from './transport.ts';

/** Sends a call until it has a final answer, or the outcome stays unknown. */
export type Send = (call: Call, limits?: Limits) => Promise<Outcome>;

/** Returns the function that resolves to the result of an operation. `field` names the data in it. */
export function createAsk(send: Send) {
  return async function ask<Name extends Operation>(
    operation: Name,
    field: keyof OperationResults[Name] & string,
    call: Call,
    limits: Limits = {},
  ): Promise<ResultOf<Name>> {
    const end = await send(call, limits);
    if (end.status > 0) return readAnswer(operation, field, end) as ResultOf<Name>;
    const unknown = { code: 'unknown', reason: end.code };
    const { idempotencyKey } = call;
    if (idempotencyKey === undefined) return unknown as ResultOf<Name>;
    let again: Promise<ResultOf<Name>> | undefined;
    // Every registration of the call may ask again. The call is sent once.
    const askAgain = () => (again ??= ask(operation, field, call, { isAgain: true }));
    return { ...unknown, idempotencyKey, askAgain } as ResultOf<Name>;
  };
}

export type Ask = ReturnType<typeof createAsk>;

function readAnswer(operation: Operation, field: string, end: Outcome) {
  const { status, code } = end;
  if (!end.isAnswer) {
    const message = `${code} without the service's envelope`;
    return { code: 'other', responseCode: null, status, message, requestId: null };
  }
  const { data } = end;
  if (code !== '00') return refused(OPERATION_FAILURES[operation], end);
  const value = field === 'registrations' ? readItems(data as Envelope[], end) : data;
  return { code, message: end.message, requestId: end.requestId, [field]: value };
}

/** Returns a failure. A code that this version does not know is `other`. */
function refused(
  known: readonly string[],
  { status, code, message, requestId, invalidFields }: Omit<Answer, 'isAnswer'>,
) {
  if (!known.includes(code)) return { code: 'other', responseCode: code, status, message, requestId };
  return { code, message, requestId, ...(invalidFields.length > 0 && { invalidFields }) };
}

/** Returns the result of each registration of a bulk call. */
function readItems(envelopes: Envelope[], answer: Answer) {
  const { requestId } = answer;
  return envelopes.map(({ responseCode: code, responseMessage: message, responseData }, index) => {
    if (code === '00') return { code, message, requestId, passReference: responseData };
    const invalidFields = fieldsOfItem(answer.invalidFields, index);
    return refused(BULK_ITEM_FAILURES, { ...answer, code, message, invalidFields });
  }) as BulkItemResult[];
}

/** Returns the invalid fields of one registration of a bulk call, named as in a single call. */
function fieldsOfItem(invalidFields: readonly InvalidField[], index: number): InvalidField[] {
  const item = new RegExp(`^registrations/${index}(?:/|$)`);
  return invalidFields
    .filter(({ field }) => item.test(field))
    .map(({ field, rule }) => ({ field: field.replace(item, ''), rule }));
}
