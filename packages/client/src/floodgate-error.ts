import type { InvalidField } from './results.ts';

/** A mistake in the use of the client, or a list that the service refused to go on with. Holds no secrets. */
export class FloodgateError extends Error {
  override readonly name = 'FloodgateError';
  /** The response code, where the service has refused; `unknown` where it did not answer; else `misuse`. */
  readonly code: string;
  /** On code 11: the first invalid fields. */
  readonly invalidFields: readonly InvalidField[];

  constructor(message: string, code = 'misuse', invalidFields: readonly InvalidField[] = []) {
    super(message);
    this.code = code;
    this.invalidFields = invalidFields;
  }
}
