import { post, type Ask } from './ask.ts';
import type {
  HoldConfirmation,
  HoldRequest,
  MoreSeats,
  OrderConfirmation,
  WaitingRequest,
} from './contract.ts';
import type { CallOptions, RegisterOptions } from './options.ts';
import { headersOf } from './register.ts';

const HOLDS = '/api/v1/events/holds';
const WAITING_LIST = '/api/v1/events/waiting-list';

/** Returns the methods that sell from a basket. Changes of a hold are idempotent without a key. */
export function createHolds(ask: Ask) {
  const path = (holdReference: string, change = '') =>
    `${HOLDS}/${encodeURIComponent(holdReference)}${change}`;
  return {
    /** Holds seats before the attendees are known, all or none. All attempts of a call have the same key. */
    create: async (request: HoldRequest, options: RegisterOptions = {}) =>
      ask('holdSeats', 'hold', { ...post(HOLDS, request), ...headersOf(options) }, options),
    /** Returns the state of a hold. */
    get: (holdReference: string, options?: CallOptions) =>
      ask('getHold', 'hold', { path: path(holdReference) }, options),
    /** Returns the holds with your own reference, the newest first, at most ten. */
    find: (partnerReference: string, options?: CallOptions) =>
      ask(
        'findHolds',
        'holds',
        { path: `${HOLDS}?${new URLSearchParams({ partnerReference }).toString()}` },
        options,
      ),
    /** Adds seats to a hold, all or none. All attempts of a call have the same key. */
    addSeats: async (
      holdReference: string,
      request: MoreSeats,
      options: Omit<RegisterOptions, 'holdForSeconds'> = {},
    ) =>
      ask(
        'addSeats',
        'hold',
        { ...post(path(holdReference, '/seats'), request), ...headersOf(options) },
        options,
      ),
    /** Confirms several holds together, all or none. */
    confirmAll: (request: OrderConfirmation, options?: CallOptions) =>
      ask('confirmHolds', 'holds', post(path('confirm'), request), options),
    /** Names the attendees, one for each held seat or one contact for all, and keeps the seats. */
    confirm: (holdReference: string, names: HoldConfirmation, options?: CallOptions) =>
      ask('confirmHold', 'hold', post(path(holdReference, '/confirm'), names), options),
    /** Moves the expiry to this number of seconds from now. */
    extend: (holdReference: string, holdForSeconds?: number, options?: CallOptions) =>
      ask('extendHold', 'hold', { ...post(path(holdReference, '/extend'), {}), holdForSeconds }, options),
    /** Releases all held seats, or those with these pass references. */
    release: (holdReference: string, passReferences?: readonly string[], options?: CallOptions) =>
      ask('releaseHold', 'hold', post(path(holdReference, '/release'), { passReferences }), options),
  };
}

export type Holds = ReturnType<typeof createHolds>;

/** Returns the methods for waiting lists. `holds.confirm` accepts an offer. */
export function createWaitingList(ask: Ask) {
  const path = (entry: string) => `${WAITING_LIST}/${encodeURIComponent(entry)}`;
  return {
    /** Joins the waiting list of a ticket that is sold out. All attempts of a call have the same key. */
    join: async (request: WaitingRequest, options: Omit<RegisterOptions, 'holdForSeconds'> = {}) =>
      ask(
        'joinWaitingList',
        'waitingEntry',
        { ...post(WAITING_LIST, request), ...headersOf(options) },
        options,
      ),
    /** Returns the state of an entry, and its place. */
    get: (entry: string, options?: CallOptions) =>
      ask('getWaitingEntry', 'waitingEntry', { path: path(entry) }, options),
    /** Leaves the list, or declines the offer. */
    leave: (entry: string, options?: CallOptions) =>
      ask('leaveWaitingList', 'waitingEntry', post(`${path(entry)}/leave`), options),
  };
}

export type WaitingList = ReturnType<typeof createWaitingList>;
