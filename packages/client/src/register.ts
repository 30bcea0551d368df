import { randomUUID } from 'node:crypto';
import type { Ask } from './ask.ts';
import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES, BULK_LIMIT, type RegistrationRequest } from './contract.ts';
import { check, type BulkOptions, type RegisterOptions, type Settings } from './options.ts';
import type { BulkResult, RegisterResult } from './results.ts';
import type { Limits } from './retry.ts';

const PATH = '/api/v1/events/register';

/** Returns the methods that register. All attempts of a call have the same key and the same body. */
export function createRegister(ask: Ask, settings: Settings, rateLimit: () => number) {
  const one = (body: string, options: RegisterOptions & Limits) =>
    ask('registerForEvent', 'passReference', { path: PATH, body, ...headersOf(options) }, options);
  const many = (bodies: readonly string[], { mode = 'each', ...options }: BulkOptions & Limits) => {
    const body = `{"registrations":[${bodies.join(',')}],"mode":"${mode}"}`;
    const call = { path: `${PATH}/bulk`, body, registrations: bodies.length, ...headersOf(options) };
    return ask('registerInBulk', 'registrations', call, options);
  };
  /** Resolves to the result of each registration. */
  const together = async (bodies: string[], limits: Limits) => {
    if (bodies.length === 1) return [await one(bodies[0]!, limits)];
    const result = await many(bodies, limits);
    return bodies.map((_, index) => resultOf(result, index));
  };
  const withOthers = createAutoBatching(together, settings, rateLimit);

  return {
    /** Registers an attendee. Concurrent registrations are sent as bulk calls. */
    async register(request: RegistrationRequest, options: RegisterOptions = {}): Promise<RegisterResult> {
      const { signal, idempotencyKey, holdForSeconds } = options;
      signal?.throwIfAborted();
      const body = serialize(request);
      const isAlone = idempotencyKey !== undefined || holdForSeconds !== undefined || !settings.autoBatch;
      return isAlone ? one(body, options) : withOthers(body, signal);
    },
    /** Registers 1 to 1,000 attendees in one call. */
    registerBulk: async (requests: readonly RegistrationRequest[], options: BulkOptions = {}) =>
      many(requests.map(serialize), options),
  };
}

export type Register = ReturnType<typeof createRegister>;

/** Returns the method and the headers of a call. Throws if the service would refuse them. */
export function headersOf({ idempotencyKey = randomUUID(), holdForSeconds }: RegisterOptions) {
  const isKey = /^[\x21-\x7e]{1,255}$/.test(idempotencyKey);
  check(isKey, 'idempotencyKey must be 1 to 255 visible ASCII characters');
  const seconds = holdForSeconds ?? 60;
  const isHold = Number.isInteger(seconds) && seconds >= 60 && seconds <= 604_800;
  check(isHold, 'holdForSeconds must be a whole number from 60 to 604800');
  return { method: 'POST', idempotencyKey, holdForSeconds } as const;
}

/** Returns a registration as JSON. Later changes to the object do not change the call. */
function serialize(request: RegistrationRequest) {
  const body = JSON.stringify(request) as string | undefined;
  check(body !== undefined, 'a registration must be an object');
  return body;
}

interface Waiting {
  body: string;
  /** In the time of performance.now(). */
  deadline: number;
  resolve: (result: RegisterResult) => void;
}

/** Size of the body of a bulk call without its registrations. */
const WRAPPING_BYTES = 64;

/**
 * Returns a function that sends concurrent single registrations as one bulk call. Registrations of one tick
 * go into one call. While `callsInFlight` calls are open, later registrations wait for the next call. So
 * calls grow with the load, and no timer delays them. An abort removes a registration that waits. After the
 * registration was sent, an abort only ends the caller's wait.
 */
function createAutoBatching(
  sendTogether: (bodies: string[], limits: Limits) => Promise<RegisterResult[]>,
  { answerWithinMs, callsInFlight }: Settings,
  rateLimit: () => number,
) {
  let waiting: Waiting[] = [];
  let openCalls = 0;
  let isScheduled = false;

  function schedule() {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (waiting.length > 0 && openCalls < callsInFlight) {
        const size = sizeOfCall(waiting, Math.min(BULK_LIMIT, rateLimit()));
        void send(waiting.splice(0, size));
      }
    });
  }

  async function send(members: Waiting[]) {
    openCalls += 1;
    const bodies = members.map(({ body }) => body);
    // The first has waited longest.
    const results = await sendTogether(bodies, { deadline: members[0]!.deadline });
    openCalls -= 1;
    const isTooLarge = results[0]?.code === '50' && members.length > rateLimit();
    // A call larger than the rate limit reserves nothing. Its registrations are sent again in smaller calls.
    if (isTooLarge) waiting.unshift(...members);
    else results.forEach((result, index) => members[index]!.resolve(result));
    schedule();
  }

  return (body: string, signal?: AbortSignal): Promise<RegisterResult> =>
    new Promise((resolve, reject) => {
      const entry = { body, deadline: performance.now() + answerWithinMs, resolve };
      waiting.push(entry);
      schedule();
      if (!signal) return;
      const onAbort = () => {
        waiting = waiting.filter((other) => other !== entry);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      entry.resolve = (result) => {
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
    });
}

/** Returns the number of waiting registrations that fit into one call. */
function sizeOfCall(waiting: readonly Waiting[], limit: number) {
  let bytes = WRAPPING_BYTES;
  const end = waiting.findIndex(({ body }, index) => {
    const size = Buffer.byteLength(body) + 1;
    bytes += size;
    return index === limit || bytes > BULK_BODY_LIMIT_BYTES || size > BODY_LIMIT_BYTES;
  });
  // A registration that is too large is sent alone, so that its caller gets the message of the service.
  return end === -1 ? waiting.length : Math.max(1, end);
}

/** Returns the result of one registration of a call: its own result, or the failure of the whole call. */
function resultOf(result: BulkResult, index: number): RegisterResult {
  // No item has code 36: the mode is not "all".
  if (result.code === '00') return result.registrations[index] as RegisterResult;
  if (result.code !== 'unknown') return result;
  return { ...result, askAgain: async () => resultOf(await result.askAgain(), index) };
}
