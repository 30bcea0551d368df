/** A mistake in the use of the client, or a list that the service refused to go on with. Holds no secrets. */
export class FloodgateError extends Error {
  override readonly name = 'FloodgateError';
  /** The response code, where the service has refused; `unknown` where it did not answer; else `misuse`. */
  readonly code: string;

  constructor(message: string, code = 'misuse') {
    super(message);
    this.code = code;
  }
}
