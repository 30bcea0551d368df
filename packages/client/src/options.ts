import { FloodgateError } from './floodgate-error.ts';

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

export type Settings = Required<ClientOptions>;

const DEFAULTS = {
  answerWithinMs: 60_000,
  attemptWithinMs: 10_000,
  autoBatch: true,
  callsInFlight: 4,
  connections: 64,
  onRetry: () => {},
};
const WHOLE = ['answerWithinMs', 'attemptWithinMs', 'callsInFlight', 'connections'] as const;
const VISIBLE = /^[\x21-\x7e]+$/;
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Returns the options with their defaults. Throws if one is wrong; the message repeats no value. */
export function readOptions(options: ClientOptions): Settings {
  const settings: Settings = { ...DEFAULTS, ...withoutUndefined(options) };
  if (!isHttpUrl(settings.baseUrl)) throw new FloodgateError('baseUrl must be an http or https URL');
  for (const name of ['secretKey', 'eventRef'] as const)
    if (typeof settings[name] !== 'string' || !VISIBLE.test(settings[name]))
      throw new FloodgateError(`${name} must be given, in visible ASCII characters`);
  for (const name of WHOLE)
    if (!Number.isInteger(settings[name]) || settings[name] < 1)
      throw new FloodgateError(`${name} must be a whole number from 1`);
  if (typeof settings.onRetry !== 'function') throw new FloodgateError('onRetry must be a function');
  return settings;
}

/** Returns the caller's Idempotency-Key. Throws if the service would refuse it. */
export function assertKey(idempotencyKey: string | undefined): string | undefined {
  if (idempotencyKey !== undefined && !KEY.test(idempotencyKey))
    throw new FloodgateError('idempotencyKey must be 1 to 255 visible ASCII characters');
  return idempotencyKey;
}

/** Returns how long seats are held. Throws if the service would refuse it. */
export function assertHold(holdForSeconds: number | undefined): number | undefined {
  const isRight = Number.isInteger(holdForSeconds) && holdForSeconds! >= 60 && holdForSeconds! <= 1_800;
  if (holdForSeconds !== undefined && !isRight)
    throw new FloodgateError('holdForSeconds must be a whole number from 60 to 1800');
  return holdForSeconds;
}

function isHttpUrl(text: unknown): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(text as string).protocol);
  } catch {
    return false;
  }
}

const withoutUndefined = (options: ClientOptions) =>
  Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as ClientOptions;
