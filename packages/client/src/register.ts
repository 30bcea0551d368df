import { randomUUID } from 'node:crypto';
import type { Ask } from './ask.ts';
import type { RegistrationRequest } from './contract.ts';
import { check } from './floodgate-error.ts';
import type { BulkOptions, RegisterOptions } from './options.ts';
import type { Limits } from './retry.ts';

const PATH = '/api/v1/events/register';

/** Returns the calls that register. Each is sent with one key and one body until it has a final answer. */
export const createRegister = (ask: Ask) => ({
  /** Registers one. */
  one: (body: string, options: RegisterOptions & Limits = {}) =>
    ask('registerForEvent', 'passReference', { path: PATH, body, ...headersOf(options) }, options),
  /** Registers many in one call. */
  many: (bodies: readonly string[], { mode = 'each', ...options }: BulkOptions & Limits = {}) => {
    const body = `{"registrations":[${bodies.join(',')}],"mode":"${mode}"}`;
    const call = { path: `${PATH}/bulk`, body, registrations: bodies.length, ...headersOf(options) };
    return ask('registerInBulk', 'registrations', call, options);
  },
});

export type Register = ReturnType<typeof createRegister>;

/** Returns the headers of a call. Throws if the service would refuse them. */
function headersOf({ idempotencyKey = randomUUID(), holdForSeconds }: RegisterOptions) {
  const isKey = /^[\x21-\x7e]{1,255}$/.test(idempotencyKey);
  check(isKey, 'idempotencyKey must be 1 to 255 visible ASCII characters');
  const seconds = holdForSeconds ?? 60;
  const isHold = Number.isInteger(seconds) && seconds >= 60 && seconds <= 1_800;
  check(isHold, 'holdForSeconds must be a whole number from 60 to 1800');
  return { method: 'POST', idempotencyKey, holdForSeconds } as const;
}

/** Returns a registration as JSON. Later changes of the object do not change the call. */
export function serialize(request: RegistrationRequest): string {
  const body = JSON.stringify(request) as string | undefined;
  check(body !== undefined, 'a registration must be an object');
  return body;
}
