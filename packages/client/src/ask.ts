import { BULK_ITEM_FAILURES, OPERATION_FAILURES, type Envelope, type Operation } from './contract.ts';
import { FloodgateError } from './options.ts';
import type { InvalidField, OperationResults, ResultOf } from './results.ts';
import type { Limits } from './retry.ts';
import type { Attempt, Call } from './transport.ts';

/** Retries a call until it has a final answer, or until its time limit, when the outcome is unknown. */
export type Send = (call: Call, limits?: Limits) => Promise<Attempt>;

/** Returns the function that resolves to the result of an operation. `field` is the name of the data in the result. */
export function createAsk(send: Send) {
  return async function ask<Name extends Operation>(
    operation: Name,
    field: keyof OperationResults[Name] & string,
    call: Call,
    limits: Limits = {},
  ): Promise<ResultOf<Name>> {
    const result = resultOf(OPERATION_FAILURES[operation], field, await send(call, limits));
    const { idempotencyKey } = call;
    if (result.code !== 'unknown' || idempotencyKey === undefined) return result as ResultOf<Name>;
    let again: Promise<ResultOf<Name>> | undefined;
    // Every registration of the call may ask again, but the call is sent only once.
    const askAgain = () => (again ??= ask(operation, field, call, { isAgain: true }));
    return { ...result, idempotencyKey, askAgain } as ResultOf<Name>;
  };
}

export type Ask = ReturnType<typeof createAsk>;

/** Returns a call that changes something, with its body as JSON. */
export const post = (path: string, body?: object) =>
  ({ path, method: 'POST', body: body && JSON.stringify(body) }) as const;

/** Returns the result of a call, with its data in a field. A code that this version does not know is `other`. */
export function resultOf(known: readonly string[], field: string, end: Attempt) {
  const { status, responseCode: code, responseMessage: message, requestId = null, invalidFields = [] } = end;
  if (status === 0) return { code: 'unknown', reason: message, requestId };
  if (code === '00') {
    const data = field === 'registrations' ? itemsOf(end) : end.responseData;
    return { code, message, requestId, [field]: data };
  }
  if (code !== null && known.includes(code))
    return { code, message, requestId, ...(invalidFields.length > 0 && { invalidFields }) };
  const what = code === null ? `${message} without the service's envelope` : message;
  return { code: 'other', responseCode: code, status, message: what, requestId };
}

/** Returns the result of each registration of a bulk call. Its invalid fields are named as in a single call. */
function itemsOf({ responseData, invalidFields = [], ...answer }: Attempt): unknown[] {
  return (responseData as Envelope[]).map((envelope, index) => {
    const place = `registrations/${index}/`;
    const ofItem = invalidFields
      .filter(({ field }) => `${field}/`.startsWith(place))
      .map(({ field, rule }) => ({ field: field.slice(place.length), rule }));
    return resultOf(BULK_ITEM_FAILURES, 'passReference', { ...answer, ...envelope, invalidFields: ofItem });
  });
}

/** Returns a success. Throws if the result is a failure, because an iterator cannot return one. */
export function succeeded<
  Result extends { code: string; message?: string; reason?: string; invalidFields?: readonly InvalidField[] },
>(what: string, result: Result): Result & { code: '00' } {
  const { code, message, reason = '', invalidFields } = result;
  if (code === '00') return result as Result & { code: '00' };
  throw new FloodgateError(`${what} failed with ${code}: ${message ?? reason}`, code, invalidFields);
}
