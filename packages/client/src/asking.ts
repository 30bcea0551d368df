import type { FloodgateClient } from './client.ts';
import type { Operation } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { Settings } from './options.ts';
import { persist, type Outcome } from './persist.ts';
import { readAnswer, type Results } from './read-answer.ts';
import { listRegistrations } from './registration-listing.ts';
import type { InvalidField } from './results.ts';
import type { Call, Transport } from './transport.ts';

/** What needs no Idempotency-Key: to ask twice is as good as once. */
type Asking = Omit<FloodgateClient, 'register' | 'registerBulk' | 'close' | 'webhooks' | keyof Passes>;
type Passes = Pick<FloodgateClient, 'pass' | 'passPicture' | 'passKeys' | 'revokedPasses'>;

/** Sends a call that has no Idempotency-Key until it has a final answer. A string is the path of a GET. */
export type Send = (
  call: string | (Omit<Call, 'method'> & Partial<Pick<Call, 'method'>>),
  signal?: AbortSignal,
) => Promise<Outcome>;

/** The same, and resolves to the result of the operation. */
export type Ask = <Name extends Operation>(
  operation: Name,
  ...call: Parameters<Send>
) => Promise<Results[Name]>;

/** Returns what sends calls. `track` is told of each. */
export function createSend(
  transport: Transport,
  { answerWithinMs, attemptWithinMs, onRetry }: Settings,
  track: <Result>(begin: () => Promise<Result>) => Promise<Result>,
): Send {
  return (call, signal) =>
    track(() => {
      const deadline = performance.now() + answerWithinMs;
      const given = typeof call === 'string' ? { path: call } : call;
      return persist(transport, { method: 'GET', ...given }, { deadline, attemptWithinMs, signal, onRetry });
    });
}

export function createAsk(send: Send): Ask {
  return async <Name extends Operation>(operation: Name, ...call: Parameters<Send>) => {
    const outcome = await send(...call);
    if (outcome.kind !== 'unknown') return readAnswer(operation, outcome);
    return { code: 'unknown', reason: outcome.reason } as Results[Name];
  };
}

/** Returns the questions that a client asks, and what is idempotent by itself. */
export function createAsking(ask: Ask): Asking {
  const post = (path: string) => ({ path, method: 'POST' as const });
  const tickets: Asking['tickets'] = ({ signal } = {}) => ask('getTickets', '/api/v1/events/tickets', signal);

  return {
    tickets,
    async *eachTicket(options) {
      const result = await tickets(options);
      if (result.code !== '00') throw refusal('the list of tickets', result);
      yield* result.tickets;
    },
    launch: ({ signal } = {}) => ask('getLaunch', '/api/v1/events/launch', signal),
    registration: (passReference, { signal } = {}) => ask('getRegistration', pathOf(passReference), signal),
    registrations: (options = {}) =>
      listRegistrations(async (query) => {
        const result = await ask('listRegistrations', `/api/v1/events/registrations${query}`, options.signal);
        if (result.code !== '00') throw refusal('the list of registrations', result);
        return result.page;
      }, options),
    confirm: (passReference, { signal } = {}) =>
      ask('confirmRegistration', post(`${pathOf(passReference)}/confirm`), signal),
    cancel: (passReference, { signal } = {}) =>
      ask('cancelRegistration', post(`${pathOf(passReference)}/cancel`), signal),
    reset: ({ signal } = {}) => ask('resetTestEvent', post('/api/v1/events/reset'), signal),
  };
}

export const pathOf = (passReference: string) =>
  `/api/v1/events/registrations/${encodeURIComponent(passReference)}`;

/** What a list, which has no results, throws. */
export function refusal(
  what: string,
  result: { code: string; message?: string; reason?: string; invalidFields?: readonly InvalidField[] },
): FloodgateError {
  const why = result.message ?? result.reason ?? '';
  return new FloodgateError(`${what} ended with ${result.code}: ${why}`, result.code, result.invalidFields);
}
