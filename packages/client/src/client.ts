import { createAsk, type Send } from './ask.ts';
import { createHolds, createWaitingList, type Holds, type WaitingList } from './holds.ts';
import { FloodgateError, readSettings, type ClientOptions } from './options.ts';
import { createPasses, type Passes } from './passes.ts';
import { createQueries, type Queries } from './queries.ts';
import { createRegister, type Register } from './register.ts';
import { sendUntilFinal } from './retry.ts';
import { createTransport } from './transport.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

/** A client for one event. Methods resolve to a result for every answer, and throw if the client is misused. */
export interface FloodgateClient extends Register, Queries, Passes {
  /** Seats that are held for baskets. */
  holds: Holds;
  /** The waiting lists of tickets that are sold out. */
  waitingList: WaitingList;
  /** The webhooks of the partner under the event. */
  webhooks: Webhooks;
  /** Rejects new calls. Resolves when open calls are answered and the connections are closed. */
  close(): Promise<void>;
}

/** Returns a client. It connects at the first call. Throws a FloodgateError if an option is invalid. */
export function createClient(options: ClientOptions): FloodgateClient {
  const settings = readSettings(options);
  const transport = createTransport(settings);
  const open = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Rejects calls after `close`, and tracks open calls. */
  function track<Result>(begin: () => Promise<Result>): Promise<Result> {
    if (closing) return Promise.reject(new FloodgateError('the client is closed'));
    const begun = begin().finally(() => open.delete(begun));
    open.add(begun);
    return begun;
  }

  const send: Send = (call, limits = {}) => sendUntilFinal(transport, settings, call, limits);
  const { register, registerBulk } = createRegister(createAsk(send), settings, transport.rateLimit);
  const trackedSend: Send = (...call) => track(() => send(...call));
  const ask = createAsk(trackedSend);

  return {
    ...createQueries(ask),
    ...createPasses(trackedSend, ask),
    holds: createHolds(ask),
    waitingList: createWaitingList(ask),
    webhooks: createWebhooks(ask),
    register: (...call) => track(() => register(...call)),
    registerBulk: (...call) => track(() => registerBulk(...call)),
    close: () => (closing ??= Promise.allSettled(open).then(() => transport.close())),
  };
}
