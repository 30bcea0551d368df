import type { Ask } from './ask.ts';
import type { HoldConfirmation, HoldRequest } from './contract.ts';
import type { CallOptions, RegisterOptions } from './options.ts';
import { headersOf } from './register.ts';

const PATH = '/api/v1/events/holds';

/** Returns the methods that sell from a basket. Changes of a hold are idempotent without a key. */
export function createHolds(ask: Ask) {
  const pathOf = (holdReference: string) => `${PATH}/${encodeURIComponent(holdReference)}`;
  const post = (holdReference: string, change: string, body: object = {}) => ({
    path: `${pathOf(holdReference)}/${change}`,
    method: 'POST' as const,
    body: JSON.stringify(body),
  });

  return {
    /** Holds seats before the attendees are known, all or none. All attempts of a call have the same key. */
    create: async (request: HoldRequest, options: RegisterOptions = {}) =>
      ask('holdSeats', 'hold', { path: PATH, body: JSON.stringify(request), ...headersOf(options) }, options),
    /** Returns the state of a hold. */
    get: (holdReference: string, options?: CallOptions) =>
      ask('getHold', 'hold', { path: pathOf(holdReference) }, options),
    /** Names the attendees, one for each held seat or one contact for all, and keeps the seats. */
    confirm: (holdReference: string, names: HoldConfirmation, options?: CallOptions) =>
      ask('confirmHold', 'hold', post(holdReference, 'confirm', names), options),
    /** Moves the expiry to this number of seconds from now. */
    extend: (holdReference: string, holdForSeconds?: number, options?: CallOptions) =>
      ask(
        'extendHold',
        'hold',
        { ...post(holdReference, 'extend'), ...(holdForSeconds !== undefined && { holdForSeconds }) },
        options,
      ),
    /** Releases all held seats, or those with these pass references. */
    release: (holdReference: string, passReferences?: readonly string[], options?: CallOptions) =>
      ask('releaseHold', 'hold', post(holdReference, 'release', { passReferences }), options),
  };
}

export type Holds = ReturnType<typeof createHolds>;
