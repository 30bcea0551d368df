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
