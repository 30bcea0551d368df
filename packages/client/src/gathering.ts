import { BODY_LIMIT_BYTES, BULK_BODY_LIMIT_BYTES, BULK_LIMIT } from './contract.ts';
import type { Settings } from './options.ts';
import type { Registering } from './registering.ts';
import type { BulkResult, RegisterResult } from './results.ts';

interface Waiting {
  body: string;
  bytes: number;
  /** By performance.now(). */
  deadline: number;
  resolve: (result: RegisterResult) => void;
}

/** What is around the registrations of a bulk call. */
const WRAPPING_BYTES = 64;

/**
 * Gathers registrations that are asked for at the same time into bulk calls. What is asked for in one turn of the event loop goes
 * together; while as many calls as may be are under way, what comes waits for the next. So the busier it gets, the larger the
 * calls, and no timer holds anything back.
 */
export function createGathering(
  registering: Registering,
  settings: Settings,
  rateLimit: () => number | null,
) {
  const { answerWithinMs, callsInFlight } = settings;
  let waiting: Waiting[] = [];
  let underWay = 0;
  let isScheduled = false;

  /** Registers with others. An abort takes it out while it waits; after that, it only ends the caller's waiting. */
  function register(body: string, signal?: AbortSignal): Promise<RegisterResult> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + answerWithinMs;
      const one: Waiting = { body, bytes: Buffer.byteLength(body) + 1, deadline, resolve };
      waiting.push(one);
      schedule();
      if (!signal) return;
      const onAbort = () => {
        waiting = waiting.filter((other) => other !== one);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      one.resolve = (result) => {
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
    });
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (waiting.length > 0 && underWay < callsInFlight) void send(takeCall());
    });
  }

  function takeCall(): Waiting[] {
    const size = sizeOfCall(waiting, Math.min(BULK_LIMIT, rateLimit() ?? BULK_LIMIT));
    const taken = waiting.slice(0, size);
    waiting = waiting.slice(size);
    return taken;
  }

  async function send(members: Waiting[]): Promise<void> {
    underWay += 1;
    const results = await registerTogether(registering, members);
    underWay -= 1;
    const limit = rateLimit();
    const isTooLarge = results[0]?.code === '50' && limit !== null && members.length > limit;
    // Nothing of a call was reserved that is larger than the limit of a second: it goes again, in smaller ones.
    if (isTooLarge) waiting.unshift(...members);
    else results.forEach((result, index) => members[index]!.resolve(result));
    schedule();
  }

  return { register };
}

/** How many of those who wait go together: as many as one call may hold. */
function sizeOfCall(waiting: readonly Waiting[], limit: number): number {
  let bytes = WRAPPING_BYTES;
  const end = waiting.findIndex((one, index) => {
    bytes += one.bytes;
    return index === limit || bytes > BULK_BODY_LIMIT_BYTES || isTooLong(one);
  });
  // What is too long goes alone: the service refuses it, in the words that it has for it.
  return end === -1 ? waiting.length : Math.max(1, end);
}

const isTooLong = ({ bytes }: Waiting) => bytes > BODY_LIMIT_BYTES;

/** Resolves to the result of each. */
async function registerTogether(registering: Registering, members: Waiting[]): Promise<RegisterResult[]> {
  // The first has waited longest.
  const [{ body, deadline }] = members as [Waiting];
  if (members.length === 1) return [await registering.one(body, { deadline })];
  const bodies = members.map((member) => member.body);
  const result = await registering.many(bodies, { deadline });
  return members.map((_, index) => resultOf(result, index));
}

/** Returns the result of one registration of a call: its own, or what became of the whole call. */
function resultOf(result: BulkResult, index: number): RegisterResult {
  // Nobody is refused for others: "all" was not asked for.
  if (result.code === '00') return result.registrations[index] as RegisterResult;
  if (result.code !== 'unknown') return result;
  return { ...result, askAgain: async () => resultOf(await result.askAgain(), index) };
}
