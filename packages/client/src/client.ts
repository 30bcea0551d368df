import { createAsk, type Send } from './ask.ts';
import { createAutoBatching } from './auto-batching.ts';
import type { RegistrationRequest } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { BulkOptions, ClientOptions, RegisterOptions } from './options.ts';
import { createPasses, type Passes } from './passes.ts';
import { createQueries, type Queries } from './queries.ts';
import { createRegister, serialize } from './register.ts';
import type { BulkResult, RegisterResult } from './results.ts';
import { sendUntilFinal } from './retry.ts';
import { readSettings } from './settings.ts';
import { createTransport } from './transport.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

/** A client for one event. Methods resolve to a result for every answer, and throw if the client is used wrongly. */
export interface FloodgateClient extends Queries, Passes {
  /** Registers an attendee. Many calls at once are sent as bulk calls. */
  register(request: RegistrationRequest, options?: RegisterOptions): Promise<RegisterResult>;
  /** Registers 1 to 1,000 attendees in one call. */
  registerBulk(requests: readonly RegistrationRequest[], options?: BulkOptions): Promise<BulkResult>;
  /** The webhooks of the partner under the event. */
  webhooks: Webhooks;
  /** Rejects new calls. Resolves when open calls are answered and the connections are closed. */
  close(): Promise<void>;
}

/** Returns a client. It connects at the first call. Throws a FloodgateError if an option is wrong. */
export function createClient(options: ClientOptions): FloodgateClient {
  const settings = readSettings(options);
  const transport = createTransport(settings);
  const open = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Rejects calls after `close`, and keeps track of open calls. */
  function track<Result>(begin: () => Promise<Result>): Promise<Result> {
    if (closing) return Promise.reject(new FloodgateError('the client is closed'));
    const begun = begin();
    const forget = () => void open.delete(begun);
    open.add(begun);
    begun.then(forget, forget);
    return begun;
  }

  const send: Send = (call, limits = {}) => sendUntilFinal(transport, settings, call, limits);
  const register = createRegister(createAsk(send));
  const registerWithOthers = createAutoBatching(register, settings, transport.rateLimit);
  const trackedSend: Send = (...call) => track(() => send(...call));
  const ask = createAsk(trackedSend);

  return {
    ...createQueries(ask),
    ...createPasses(trackedSend, ask),
    webhooks: createWebhooks(ask),
    register: (request, own = {}) =>
      track(async () => {
        own.signal?.throwIfAborted();
        const body = serialize(request);
        const isAlone = own.idempotencyKey !== undefined || own.holdForSeconds !== undefined;
        return settings.autoBatch && !isAlone
          ? registerWithOthers(body, own.signal)
          : register.one(body, own);
      }),
    registerBulk: (requests, own) => track(async () => register.many(requests.map(serialize), own)),
    close: () => (closing ??= Promise.allSettled(open).then(() => transport.close())),
  };
}
