import { check } from './floodgate-error.ts';
import type { PassKeySet } from './results.ts';

/** A call that did not succeed and is about to be sent again. */
export interface Retry {
  /** The response code, such as `50`; `HTTP status 502` for an answer of a proxy; or the error of the connection. */
  code: string;
  /** The number of the attempt that failed, from 1. */
  attempt: number;
  /** How long the client waits before it sends the call again. */
  delayMs: number;
  request: { method: string; path: string; idempotencyKey?: string; registrations?: number };
}

export interface ClientOptions {
  /** Where the service is, such as https://floodgate.example.com. */
  baseUrl: string;
  secretKey: string;
  /** The event that all calls are about, a UUID. */
  eventRef: string;
  /** How long a call may take, retries included, before it is answered `unknown`. */
  answerWithinMs?: number;
  /** How long one attempt may take before the next one starts. */
  attemptWithinMs?: number;
  /** Whether single registrations that are made at the same time are sent as one bulk call. */
  autoBatch?: boolean;
  /** Automatic bulk calls that may be open at once. Later registrations wait for the next call. */
  callsInFlight?: number;
  /** Most connections to the service. */
  connections?: number;
  /** Called before each retry, for your log or metrics. Errors that it throws are ignored. */
  onRetry?: (retry: Retry) => void;
}

export interface CallOptions {
  /** Ends the wait: the promise rejects with its reason. A call that was sent may be carried out. */
  signal?: AbortSignal | undefined;
}

export interface RegisterOptions extends CallOptions {
  /** Your own key, such as an order number. The registration is then sent alone. */
  idempotencyKey?: string;
  /** Holds the seat for 60 to 1800 seconds, until `confirm` keeps it. The registration is then sent alone. */
  holdForSeconds?: number;
}

export interface BulkOptions extends RegisterOptions {
  /** `each` (the default): every registration for itself. `all`: all of them or none. */
  mode?: 'each' | 'all';
}

export interface ListOptions extends CallOptions {
  /** The cursor to continue after; by default the list starts at the beginning. */
  after?: string | undefined;
  /** Only entries of this state. */
  state?: 'confirmed' | 'cancelled' | 'failed';
  /** Registrations of one page, 1 to 1,000. */
  pageSize?: number;
}

export interface PictureOptions extends CallOptions {
  mediaType?: 'image/png' | 'image/svg+xml';
}

export interface SignedEventOptions extends CallOptions {
  /** The keys to verify with; fetched if they are left out. */
  keys?: PassKeySet;
}

export interface RevokedPassesOptions extends SignedEventOptions {
  /** The pages of an earlier call. Only newer ones are fetched. */
  pages?: readonly string[];
}

export type Settings = Required<ClientOptions>;

const COUNTS = { answerWithinMs: 60_000, attemptWithinMs: 10_000, callsInFlight: 4, connections: 64 };

/** Returns the options with their defaults. Throws if one is wrong. */
export function readSettings(options: ClientOptions): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const defaults = { ...COUNTS, autoBatch: true, onRetry: () => {} };
  const settings: Settings = { ...defaults, ...(given as unknown as ClientOptions) };
  const isUrl = /^https?:/i.test(settings.baseUrl) && URL.canParse(settings.baseUrl);
  check(isUrl, 'baseUrl must be an http or https URL');
  for (const name of ['secretKey', 'eventRef'] as const)
    check(/^[\x21-\x7e]+$/.test(settings[name] ?? ''), `${name} must be given, in visible ASCII characters`);
  for (const name of Object.keys(COUNTS) as (keyof typeof COUNTS)[])
    check(Number.isInteger(settings[name]) && settings[name] > 0, `${name} must be a whole number from 1`);
  check(typeof settings.onRetry === 'function', 'onRetry must be a function');
  return settings;
}
