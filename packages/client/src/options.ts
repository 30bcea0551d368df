import type { InvalidField, PassKeySet } from './results.ts';

/** A failed attempt that the client is about to retry. */
export interface Retry {
  /** The response code, such as `50`; `HTTP status 502` for an answer of a proxy; or the connection error. */
  code: string;
  /** The number of the attempt that failed, from 1. */
  attempt: number;
  /** Time until the next attempt. */
  delayMs: number;
  /** Include it when you contact the operator. Null: the service did not answer. */
  requestId: string | null;
  request: { method: string; path: string; idempotencyKey?: string; registrations?: number };
}

export interface ClientOptions {
  /** The URL of the service, such as https://floodgate.example.com. */
  baseUrl: string;
  secretKey: string;
  /** The event reference for all calls, a UUID. */
  eventRef: string;
  /** Time limit of a call, including retries. After this time the result is `unknown`. */
  answerWithinMs?: number;
  /** Time limit of one attempt. */
  attemptWithinMs?: number;
  /** Whether concurrent single registrations are sent as one bulk call. */
  autoBatch?: boolean;
  /** Maximum number of concurrent automatic bulk calls. Later registrations wait for the next call. */
  callsInFlight?: number;
  /** Maximum number of connections to the service. */
  connections?: number;
  /** Called before each retry, for your log or metrics. Errors that it throws are ignored. */
  onRetry?: (retry: Retry) => void;
}

export interface CallOptions {
  /**
   * Aborts the call: the promise rejects with the reason of the signal. The service may still process a call
   * that was sent.
   */
  signal?: AbortSignal | undefined;
}

export interface RegisterOptions extends CallOptions {
  /** Your own idempotency key, such as an order number. The registration is then sent in a call of its own. */
  idempotencyKey?: string;
  /**
   * Holds the seat for 60 to 604800 seconds, at most as long as the operator allows. `confirm` keeps it. The
   * registration is then sent in a call of its own.
   */
  holdForSeconds?: number;
}

export interface BulkOptions extends RegisterOptions {
  /** `each` (the default): registrations succeed or fail separately. `all`: all registrations or none. */
  mode?: 'each' | 'all';
}

export interface ListOptions extends CallOptions {
  /** The cursor of the last page that you have read. Default: the beginning of the list. */
  after?: string | undefined;
  /** Lists only entries in this state. */
  state?: 'confirmed' | 'cancelled' | 'failed';
  /** Lists the registrations with this reference of yours instead of changes: each once, as it is now. */
  partnerReference?: string;
  /** An additional field of each entry. */
  include?: 'partnerReference';
  /** Number of registrations in a page, 1 to 1,000. */
  pageSize?: number;
}

export interface PictureOptions extends CallOptions {
  mediaType?: 'image/png' | 'image/svg+xml';
}

export interface SignedEventOptions extends CallOptions {
  /** The keys for the verification. Fetched by default. */
  keys?: PassKeySet;
}

export interface RevokedPassesOptions extends SignedEventOptions {
  /** The pages of an earlier call. Only the last of them and newer pages are fetched. */
  pages?: readonly string[];
}

export type Settings = Required<ClientOptions>;

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

/** Returns the options with their defaults. Throws if an option is invalid. */
export function readSettings(options: ClientOptions): Settings {
  checkAccess(options);
  const { answerWithinMs = 60_000, attemptWithinMs = 10_000, callsInFlight = 4, connections = 64 } = options;
  const { autoBatch = true, onRetry = () => {} } = options;
  const counts = { answerWithinMs, attemptWithinMs, callsInFlight, connections };
  for (const [name, count] of Object.entries(counts))
    check(Number.isInteger(count) && count > 0, `${name} must be a whole number from 1`);
  check(typeof onRetry === 'function', 'onRetry must be a function');
  return { ...options, ...counts, autoBatch, onRetry };
}

/** Callers without a compiler can leave out a required option. */
function checkAccess({ baseUrl, ...access }: Partial<ClientOptions>) {
  const isUrl = baseUrl !== undefined && /^https?:/i.test(baseUrl) && URL.canParse(baseUrl);
  check(isUrl, 'baseUrl must be an http or https URL');
  for (const name of ['secretKey', 'eventRef'] as const)
    check(/^[\x21-\x7e]+$/.test(access[name] ?? ''), `${name} must be visible ASCII characters`);
}
