import type { InvalidField } from './results.ts';

/** The client is misused, the service refused a list, or a document is not genuine. Contains no secrets. */
export class FloodgateError extends Error {
  override readonly name = 'FloodgateError';
  /** The response code if the service refused, `unknown` if it did not answer, the fault of a document, or `misuse`. */
  readonly code: string;
  /** On code 11: the first invalid fields. */
  readonly invalidFields: readonly InvalidField[];

  constructor(message: string, code = 'misuse', invalidFields: readonly InvalidField[] = []) {
    super(message);
    this.code = code;
    this.invalidFields = invalidFields;
  }
}

/** Throws if the condition is false. The message contains no values. */
export function check(isRight: boolean, rule: string): asserts isRight {
  if (!isRight) throw new FloodgateError(rule);
}

/** Returns a success. Throws if the result is a failure, because an iterator cannot return one. */
export function succeeded<
  Result extends { code: string; message?: string; reason?: string; invalidFields?: readonly InvalidField[] },
>(what: string, result: Result): Result & { code: '00' } {
  const { code, message, reason = '', invalidFields } = result;
  if (code === '00') return result as Result & { code: '00' };
  throw new FloodgateError(`${what} failed with ${code}: ${message ?? reason}`, code, invalidFields);
}
