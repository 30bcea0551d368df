import { check } from './floodgate-error.ts';
import type { ClientOptions } from './options.ts';

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
