import type { RegistrationRequest, Ticket } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import { createGathering } from './gathering.ts';
import { assertHold, assertKey, readOptions, type ClientOptions } from './options.ts';
import { createAsk, createAsking, createSend } from './asking.ts';
import { createPasses, type RevocationList, type RevokedPassesOptions } from './passes.ts';
import { createRegistering, serialize } from './registering.ts';
import type { ListOptions, RegistrationListing } from './registration-listing.ts';
import type {
  BulkResult,
  CancelResult,
  ConfirmResult,
  LaunchResult,
  PassPictureResult,
  PassResult,
  RegisterResult,
  RegistrationResult,
  ResetResult,
  TicketsResult,
} from './results.ts';
import { createTransport } from './transport.ts';
import type { PassKeySet } from './verify-pass.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export interface CallOptions {
  /** Ends the waiting: the promise rejects with its reason. What was sent by then may have been carried out. */
  signal?: AbortSignal;
}

export interface RegisterOptions extends CallOptions {
  /** Yours, such as an order number. The registration then goes alone, so that the key stands for nothing else. */
  idempotencyKey?: string;
  /** Holds the seat for so many seconds, 60 to 1800, until `confirm` keeps it. The registration then goes alone. */
  holdForSeconds?: number;
}

export interface BulkOptions extends RegisterOptions {
  /** `each` (the default): whoever can have a seat gets one. `all`: every one of them, or none. */
  mode?: 'each' | 'all';
}

export interface PictureOptions extends CallOptions {
  mediaType?: 'image/png' | 'image/svg+xml';
}

/** A client for one event. Methods resolve with a result for every answer; they throw where the client is misused. */
export interface FloodgateClient {
  /** Registers an attendee. Asked for many times at once, it goes in bulk calls. */
  register(request: RegistrationRequest, options?: RegisterOptions): Promise<RegisterResult>;
  /** Registers 1 to 1,000 attendees in one call. */
  registerBulk(requests: readonly RegistrationRequest[], options?: BulkOptions): Promise<BulkResult>;
  /** Tells how far a registration is. */
  registration(passReference: string, options?: CallOptions): Promise<RegistrationResult>;
  /** Lists what became of registrations. Iterating throws a FloodgateError where the service refuses. */
  registrations(options?: ListOptions): RegistrationListing;
  /** Keeps a registration whose seat is held for a while. */
  confirm(passReference: string, options?: CallOptions): Promise<ConfirmResult>;
  /** Cancels a registration. */
  cancel(passReference: string, options?: CallOptions): Promise<CancelResult>;
  /** Under a test event: cancels what was registered, and forgets the keys. Call it again while there is `more`. */
  reset(options?: CallOptions): Promise<ResetResult>;
  /** Lists the tickets that can be bought now. */
  tickets(options?: CallOptions): Promise<TicketsResult>;
  /** The same tickets, one by one. Iterating throws a FloodgateError where the service refuses. */
  eachTicket(options?: CallOptions): AsyncGenerator<Ticket, void, undefined>;
  /** Tells how far the sale is. */
  launch(options?: CallOptions): Promise<LaunchResult>;
  /** Returns the pass of a confirmed registration. */
  pass(passReference: string, options?: CallOptions): Promise<PassResult>;
  /** Returns the QR code of a pass as a picture: PNG, or SVG. */
  passPicture(passReference: string, options?: PictureOptions): Promise<PassPictureResult>;
  /** Returns the public keys that verify passes. Throws a FloodgateError if they cannot be fetched. */
  passKeys(options?: CallOptions): Promise<PassKeySet>;
  /** Returns all of the partner's revoked passes, verified. Throws a FloodgateError if it is refused, or the list is not genuine. */
  revokedPasses(options?: RevokedPassesOptions): Promise<RevocationList>;
  webhooks: Webhooks;
  /** Takes no further calls. Resolves when those that were made are answered, and the connections closed. */
  close(): Promise<void>;
}

/** Returns a client. It connects when it is first used. Throws a FloodgateError where an option makes no sense. */
export function createClient(options: ClientOptions): FloodgateClient {
  const settings = readOptions(options);
  const transport = createTransport(settings);
  const registering = createRegistering(transport, settings);
  const gathering = createGathering(registering, settings, transport.rateLimit);
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Refuses what comes after the end, and remembers what has not ended. */
  function track<Result>(begin: () => Promise<Result>): Promise<Result> {
    if (closing) return Promise.reject(new FloodgateError('the client is closed'));
    const begun = begin();
    const forget = () => void underWay.delete(begun);
    underWay.add(begun);
    begun.then(forget, forget);
    return begun;
  }

  const effort = (signal: AbortSignal | undefined) => ({
    deadline: performance.now() + settings.answerWithinMs,
    signal,
  });

  const send = createSend(transport, settings, track);
  const ask = createAsk(send);

  return {
    ...createAsking(ask),
    ...createPasses(send, ask),
    webhooks: createWebhooks(ask),
    register: (request, { idempotencyKey, holdForSeconds, signal } = {}) =>
      track(async () => {
        signal?.throwIfAborted();
        const body = serialize(request);
        const own = { idempotencyKey: assertKey(idempotencyKey), holdForSeconds: assertHold(holdForSeconds) };
        const isAlone = Object.values(own).some((option) => option !== undefined);
        if (settings.gather && !isAlone) return gathering.register(body, signal);
        return registering.one(body, effort(signal), own);
      }),
    registerBulk: (requests, { mode, idempotencyKey, holdForSeconds, signal } = {}) =>
      track(async () => {
        const bodies = requests.map(serialize);
        const own = { idempotencyKey: assertKey(idempotencyKey), holdForSeconds: assertHold(holdForSeconds) };
        return registering.many(bodies, effort(signal), mode, own);
      }),
    close: () => (closing ??= Promise.allSettled(underWay).then(() => transport.close())),
  };
}
