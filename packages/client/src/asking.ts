import type { FloodgateClient } from './client.ts';
import type { Operation } from './contract.ts';
import { FloodgateError } from './floodgate-error.ts';
import type { Settings } from './options.ts';
import { persist } from './persist.ts';
import { readAnswer, type Results } from './read-answer.ts';
import { listRegistrations } from './registration-listing.ts';
import type { InvalidField } from './results.ts';
import type { Call, Transport } from './transport.ts';

/** What needs no Idempotency-Key: to ask twice is as good as once. */
type Asking = Omit<FloodgateClient, 'register' | 'registerBulk' | 'close'>;

/** Returns the questions that a client asks, and what is idempotent by itself. `track` is told of each call. */
export function createAsking(
  transport: Transport,
  { answerWithinMs, attemptWithinMs }: Settings,
  track: <Result>(begin: () => Promise<Result>) => Promise<Result>,
): Asking {
  function ask<Name extends Operation>(
    operation: Name,
    path: string,
    signal: AbortSignal | undefined,
    method: Call['method'] = 'GET',
  ): Promise<Results[Name]> {
    return track(async () => {
      const deadline = performance.now() + answerWithinMs;
      const outcome = await persist(transport, { method, path }, { deadline, attemptWithinMs, signal });
      if (outcome.kind !== 'unknown') return readAnswer(operation, outcome);
      return { code: 'unknown', reason: outcome.reason } as Results[Name];
    });
  }

  const tickets: Asking['tickets'] = ({ signal } = {}) => ask('getTickets', '/tickets', signal);

  return {
    tickets,
    async *eachTicket(options) {
      const result = await tickets(options);
      if (result.code !== '00') throw refusal('the list of tickets', result);
      yield* result.tickets;
    },
    launch: ({ signal } = {}) => ask('getLaunch', '/launch', signal),
    registration: (passReference, { signal } = {}) => ask('getRegistration', pathOf(passReference), signal),
    registrations: (options = {}) =>
      listRegistrations(async (query) => {
        const result = await ask('listRegistrations', `/registrations${query}`, options.signal);
        if (result.code !== '00') throw refusal('the list of registrations', result);
        return result.page;
      }, options),
    confirm: (passReference, { signal } = {}) =>
      ask('confirmRegistration', `${pathOf(passReference)}/confirm`, signal, 'POST'),
    cancel: (passReference, { signal } = {}) =>
      ask('cancelRegistration', `${pathOf(passReference)}/cancel`, signal, 'POST'),
    reset: ({ signal } = {}) => ask('resetTestEvent', '/reset', signal, 'POST'),
  };
}

const pathOf = (passReference: string) => `/registrations/${encodeURIComponent(passReference)}`;

/** What a list, which has no results, throws. */
function refusal(
  what: string,
  result: { code: string; message?: string; reason?: string; invalidFields?: readonly InvalidField[] },
): FloodgateError {
  const why = result.message ?? result.reason ?? '';
  return new FloodgateError(`${what} ended with ${result.code}: ${why}`, result.code, result.invalidFields);
}
