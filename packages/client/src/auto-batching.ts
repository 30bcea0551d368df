import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES, BULK_LIMIT } from './contract.ts';
import type { Settings } from './settings.ts';
import type { Register } from './register.ts';
import type { BulkResult, RegisterResult } from './results.ts';

interface Waiting {
  body: string;
  bytes: number;
  /** By performance.now(). */
  deadline: number;
  resolve: (result: RegisterResult) => void;
}

/** The rest of the body of a bulk call. */
const WRAPPING_BYTES = 64;

/**
 * Returns a function that sends single registrations that are made at the same time as one bulk call. Registrations of one tick go together.
 * While `callsInFlight` calls are open, later registrations wait for the next call. So calls grow with the load, and no timer delays
 * anything. An abort removes a waiting registration; later it only ends the caller's wait.
 */
export function createAutoBatching(
  calls: Register,
  { answerWithinMs, callsInFlight }: Settings,
  rateLimit: () => number | null,
) {
  let waiting: Waiting[] = [];
  let openCalls = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (waiting.length > 0 && openCalls < callsInFlight) {
        const size = sizeOfCall(waiting, Math.min(BULK_LIMIT, rateLimit() ?? BULK_LIMIT));
        void send(waiting.slice(0, size));
        waiting = waiting.slice(size);
      }
    });
  }

  async function send(members: Waiting[]): Promise<void> {
    openCalls += 1;
    const results = await sendTogether(calls, members);
    openCalls -= 1;
    const isTooLarge = results[0]?.code === '50' && members.length > (rateLimit() ?? Infinity);
    // A call larger than the limit per second reserves nothing: send it again in smaller calls.
    if (isTooLarge) waiting.unshift(...members);
    else results.forEach((result, index) => members[index]!.resolve(result));
    schedule();
  }

  return (body: string, signal?: AbortSignal): Promise<RegisterResult> =>
    new Promise((resolve, reject) => {
      const deadline = performance.now() + answerWithinMs;
      const entry = { body, bytes: Buffer.byteLength(body) + 1, deadline, resolve };
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

/** Returns how many waiting registrations fit into one call. */
function sizeOfCall(waiting: readonly Waiting[], limit: number): number {
  let bytes = WRAPPING_BYTES;
  const end = waiting.findIndex((one, index) => {
    bytes += one.bytes;
    return index === limit || bytes > BULK_BODY_LIMIT_BYTES || one.bytes > BODY_LIMIT_BYTES;
  });
  // A registration that is too long goes alone, so that the service's own message is returned.
  return end === -1 ? waiting.length : Math.max(1, end);
}

/** Resolves to the result of each registration. */
async function sendTogether({ one, many }: Register, members: Waiting[]): Promise<RegisterResult[]> {
  const bodies = members.map(({ body }) => body);
  // The first has waited longest.
  const { deadline } = members[0]!;
  if (members.length === 1) return [await one(bodies[0]!, { deadline })];
  const result = await many(bodies, { deadline });
  return members.map((_, index) => resultOf(result, index));
}

/** Returns the result of one registration of a call: its own, or that of the whole call. */
function resultOf(result: BulkResult, index: number): RegisterResult {
  // No item has code 36: the mode is not "all".
  if (result.code === '00') return result.registrations[index] as RegisterResult;
  if (result.code !== 'unknown') return result;
  return { ...result, askAgain: async () => resultOf(await result.askAgain(), index) };
}
