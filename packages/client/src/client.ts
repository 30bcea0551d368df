import { createAsk, type Send } from './ask.ts';
import { createHolds, createWaitingList } from './holds.ts';
import { FloodgateError, readSettings, type ClientOptions } from './options.ts';
import { createPasses } from './passes.ts';
import { createQueries } from './queries.ts';
import { createRegister } from './register.ts';
import { sendUntilFinal } from './retry.ts';
import { createTransport } from './transport.ts';
import { createWebhooks } from './webhooks.ts';

/** A client for one event. Methods resolve to a result for every answer, and throw if the client is misused. */
export type FloodgateClient = ReturnType<typeof createClient>;

/** Returns a client. It connects at the first call. Throws a FloodgateError if an option is invalid. */
export function createClient(options: ClientOptions) {
  const settings = readSettings(options);
  const transport = createTransport(settings);
  const open = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Returns the function with its calls rejected after `close`, and open calls tracked. */
  const tracked =
    <Args extends unknown[], Result>(begin: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> => {
      if (closing) return Promise.reject(new FloodgateError('the client is closed'));
      const begun = begin(...args).finally(() => open.delete(begun));
      open.add(begun);
      return begun;
    };

  const send: Send = (call, limits = {}) => sendUntilFinal(transport, settings, call, limits);
  const { register, registerBulk } = createRegister(createAsk(send), settings, transport.rateLimit);
  const trackedSend = tracked(send);
  const ask = createAsk(trackedSend);

  return {
    ...createQueries(ask),
    ...createPasses(trackedSend, ask),
    /** Seats that are held for baskets. */
    holds: createHolds(ask),
    /** The waiting lists of tickets that are sold out. */
    waitingList: createWaitingList(ask),
    /** The webhooks of the partner under the event. */
    webhooks: createWebhooks(ask),
    /** Registers an attendee. Concurrent registrations are sent as bulk calls. */
    register: tracked(register),
    /** Registers 1 to 1,000 attendees in one call. */
    registerBulk: tracked(registerBulk),
    /** Rejects new calls. Resolves when open calls are answered and the connections are closed. */
    close: (): Promise<void> => (closing ??= Promise.allSettled(open).then(() => transport.close())),
  };
}
