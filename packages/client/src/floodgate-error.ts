import type { InvalidField } from './results.ts';

/** The client is used wrongly, or the service refused a list. Holds no secrets. */
export class FloodgateError extends Error {
  override readonly name = 'FloodgateError';
  /** The response code if the service refused, `unknown` if it did not answer, else `misuse`. */
  readonly code: string;
  /** On code 11: the first invalid fields. */
  readonly invalidFields: readonly InvalidField[];

  constructor(message: string, code = 'misuse', invalidFields: readonly InvalidField[] = []) {
    super(message);
    this.code = code;
    this.invalidFields = invalidFields;
  }
}

/** Throws if the client is used wrongly. The message repeats no value. */
export function check(isRight: boolean, rule: string): asserts isRight {
  if (!isRight) throw new FloodgateError(rule);
}

/** Returns a success. Throws a failure: a list has no result that could say so. */
export function succeeded<
  Result extends { code: string; message?: string; reason?: string; invalidFields?: readonly InvalidField[] },
>(what: string, result: Result): Result & { code: '00' } {
  const { code, message, reason = '', invalidFields } = result;
  if (code === '00') return result as Result & { code: '00' };
  throw new FloodgateError(`${what} ended with ${code}: ${message ?? reason}`, code, invalidFields);
}
