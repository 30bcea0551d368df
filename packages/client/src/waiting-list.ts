import type { Ask } from './ask.ts';
import type { WaitingRequest } from './contract.ts';
import type { CallOptions, RegisterOptions } from './options.ts';
import { headersOf } from './register.ts';

const PATH = '/api/v1/events/waiting-list';

/** Returns the methods for waiting lists. `holds.confirm` accepts an offer. */
export function createWaitingList(ask: Ask) {
  const pathOf = (entry: string) => `${PATH}/${encodeURIComponent(entry)}`;
  return {
    /** Joins the waiting list of a ticket that is sold out. All attempts of a call have the same key. */
    join: async (request: WaitingRequest, options: Omit<RegisterOptions, 'holdForSeconds'> = {}) =>
      ask(
        'joinWaitingList',
        'waitingEntry',
        { path: PATH, body: JSON.stringify(request), ...headersOf(options) },
        options,
      ),
    /** Returns the state of an entry, and its place. */
    get: (entry: string, options?: CallOptions) =>
      ask('getWaitingEntry', 'waitingEntry', { path: pathOf(entry) }, options),
    /** Leaves the list, or declines the offer. */
    leave: (entry: string, options?: CallOptions) =>
      ask('leaveWaitingList', 'waitingEntry', { path: `${pathOf(entry)}/leave`, method: 'POST' }, options),
  };
}

export type WaitingList = ReturnType<typeof createWaitingList>;
