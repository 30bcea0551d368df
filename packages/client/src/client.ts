import type { RegistrationRequest, Ticket } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import { createAutoBatching } from './auto-batching.ts';
import { assertHold, assertKey, readOptions, type ClientOptions } from './options.ts';
import { createAsk, createQueries, createSend } from './queries.ts';
import {
  createPasses,
  type RevocationList,
  type RevokedPassesOptions,
  type SignedEventOptions,
  type VerifiedEvent,
} from './passes.ts';
import { createRegister, serialize } from './register.ts';
import type { ListOptions, RegistrationListing } from './registration-listing.ts';
import type { BulkResult, PassPictureResult, RegisterResult, ResultOf } from './results.ts';
import { createTransport } from './transport.ts';
import type { PassKeySet } from './signed-documents.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export interface CallOptions {
  /** Ends the wait: the promise rejects with its reason. A call that was sent may be carried out. */
  signal?: AbortSignal;
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

export interface PictureOptions extends CallOptions {
  mediaType?: 'image/png' | 'image/svg+xml';
}

/** A client for one event. Methods resolve to a result for every answer, and throw if the client is used wrongly. */
export interface FloodgateClient {
  /** Registers an attendee. Many calls at once are sent as bulk calls. */
  register(request: RegistrationRequest, options?: RegisterOptions): Promise<RegisterResult>;
  /** Registers 1 to 1,000 attendees in one call. */
  registerBulk(requests: readonly RegistrationRequest[], options?: BulkOptions): Promise<BulkResult>;
  /** Returns the state of a registration. */
  registration(passReference: string, options?: CallOptions): Promise<ResultOf<'getRegistration'>>;
  /** Lists the changes of registrations. Iterating throws a FloodgateError if the service refuses. */
  registrations(options?: ListOptions): RegistrationListing;
  /** Confirms a held registration. */
  confirm(passReference: string, options?: CallOptions): Promise<ResultOf<'confirmRegistration'>>;
  /** Cancels a registration. */
  cancel(passReference: string, options?: CallOptions): Promise<ResultOf<'cancelRegistration'>>;
  /** Under a test event: cancels all registrations and deletes the idempotency keys. Call it again while `more` is true. */
  reset(options?: CallOptions): Promise<ResultOf<'resetTestEvent'>>;
  /** Lists the tickets that can be bought now. */
  tickets(options?: CallOptions): Promise<ResultOf<'getTickets'>>;
  /** The same tickets, one by one. Iterating throws a FloodgateError if the service refuses. */
  eachTicket(options?: CallOptions): AsyncGenerator<Ticket, void, undefined>;
  /** Returns the state of the sale. */
  launch(options?: CallOptions): Promise<ResultOf<'getLaunch'>>;
  /** Returns the pass of a confirmed registration. */
  pass(passReference: string, options?: CallOptions): Promise<ResultOf<'getPass'>>;
  /** Returns the QR code of a pass as a picture: PNG, or SVG. */
  passPicture(passReference: string, options?: PictureOptions): Promise<PassPictureResult>;
  /** Returns the public keys that verify passes. Throws a FloodgateError if they cannot be fetched. */
  passKeys(options?: CallOptions): Promise<PassKeySet>;
  /** Returns the event with its current times, signed. Throws a FloodgateError if it is refused, or the document is not genuine. */
  signedEvent(options?: SignedEventOptions): Promise<VerifiedEvent>;
  /** Returns all of the partner's revoked passes, verified. Throws a FloodgateError if it is refused, or the list is not genuine. */
  revokedPasses(options?: RevokedPassesOptions): Promise<RevocationList>;
  webhooks: Webhooks;
  /** Rejects new calls. Resolves when open calls are answered and the connections are closed. */
  close(): Promise<void>;
}

/** Returns a client. It connects at the first call. Throws a FloodgateError if an option is wrong. */
export function createClient(options: ClientOptions): FloodgateClient {
  const settings = readOptions(options);
  const transport = createTransport(settings);
  const register = createRegister(transport, settings);
  const batching = createAutoBatching(register, settings, transport.rateLimit);
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

  const limits = (signal: AbortSignal | undefined) => ({
    deadline: performance.now() + settings.answerWithinMs,
    signal,
  });

  const send = createSend(transport, settings, track);
  const ask = createAsk(send);

  return {
    ...createQueries(ask),
    ...createPasses(send, ask),
    webhooks: createWebhooks(ask),
    register: (request, { idempotencyKey, holdForSeconds, signal } = {}) =>
      track(async () => {
        signal?.throwIfAborted();
        const body = serialize(request);
        const own = { idempotencyKey: assertKey(idempotencyKey), holdForSeconds: assertHold(holdForSeconds) };
        const isAlone = Object.values(own).some((option) => option !== undefined);
        if (settings.autoBatch && !isAlone) return batching.register(body, signal);
        return register.one(body, limits(signal), own);
      }),
    registerBulk: (requests, { mode, idempotencyKey, holdForSeconds, signal } = {}) =>
      track(async () => {
        const bodies = requests.map(serialize);
        const own = { idempotencyKey: assertKey(idempotencyKey), holdForSeconds: assertHold(holdForSeconds) };
        return register.many(bodies, limits(signal), mode, own);
      }),
    close: () => (closing ??= Promise.allSettled(open).then(() => transport.close())),
  };
}
