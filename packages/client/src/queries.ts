import type { FloodgateClient } from './client.ts';
import type { Operation } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { Settings } from './options.ts';
import { readAnswer } from './read-answer.ts';
import { listRegistrations } from './registration-listing.ts';
import type { InvalidField, ResultOf } from './results.ts';
import { retry, type Outcome } from './retry.ts';
import type { Call, Transport } from './transport.ts';

/** Operations that are idempotent without an Idempotency-Key. */
type Queries = Omit<FloodgateClient, 'register' | 'registerBulk' | 'close' | 'webhooks' | keyof Passes>;
type Passes = Pick<FloodgateClient, 'pass' | 'passPicture' | 'passKeys' | 'signedEvent' | 'revokedPasses'>;

/** Sends a call without an Idempotency-Key until it has a final answer. A string is the path of a GET. */
export type Send = (
  call: string | (Omit<Call, 'method'> & Partial<Pick<Call, 'method'>>),
  signal?: AbortSignal,
) => Promise<Outcome>;

/** The same. Resolves to the result of the operation. */
export type Ask = <Name extends Operation>(
  operation: Name,
  ...call: Parameters<Send>
) => Promise<ResultOf<Name>>;

/** Returns the function that sends calls. `track` counts each call as open until it ends. */
export function createSend(
  transport: Transport,
  { answerWithinMs, attemptWithinMs, onRetry }: Settings,
  track: <Result>(begin: () => Promise<Result>) => Promise<Result>,
): Send {
  return (call, signal) =>
    track(() => {
      const deadline = performance.now() + answerWithinMs;
      const given = typeof call === 'string' ? { path: call } : call;
      return retry(transport, { method: 'GET', ...given }, { deadline, attemptWithinMs, signal, onRetry });
    });
}

export function createAsk(send: Send): Ask {
  return async <Name extends Operation>(operation: Name, ...call: Parameters<Send>) => {
    const outcome = await send(...call);
    if (outcome.kind !== 'unknown') return readAnswer(operation, outcome);
    return { code: 'unknown', reason: outcome.reason } as ResultOf<Name>;
  };
}

/** Returns the methods that read, and the changes that are idempotent by themselves. */
export function createQueries(ask: Ask): Queries {
  const post = (path: string) => ({ path, method: 'POST' as const });
  const tickets: Queries['tickets'] = ({ signal } = {}) =>
    ask('getTickets', '/api/v1/events/tickets', signal);

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

/** Returns the error that a list throws, because it has no results. */
export function refusal(
  what: string,
  result: { code: string; message?: string; reason?: string; invalidFields?: readonly InvalidField[] },
): FloodgateError {
  const why = result.message ?? result.reason ?? '';
  return new FloodgateError(`${what} ended with ${result.code}: ${why}`, result.code, result.invalidFields);
}
