import { createSemaphore } from '@floodgate/service';

/** A page waits for this long, and otherwise says that it is not there yet. */
const WAIT_MS = 60;
/** A page that did not wait comes back within this. A fast read is always new. */
const COMES_BACK_MS = 2_500;
/** A stream reads for one part of so many of its time. */
const PACE = 10;
const MOST_KEPT = 50;
/** Slow reads at the same time. The other connections are for other pages. */
const MOST_AT_ONCE = 2;
const PATIENCE_MS = 30_000;

const withPermit = createSemaphore(MOST_AT_ONCE, PATIENCE_MS);

/** A value, and when it was read. */
export interface Dated<Value> {
  at: Date;
  value: Value;
}

interface Kept<Value> {
  reading: Promise<Dated<Value>>;
  /** Undefined: it is still being read. */
  endedMs: number | undefined;
  /** Whether a page did not wait for it, and comes back. There can be several. */
  isAwaited: boolean;
}

/** Keeps what takes long to read, so that no page waits for it. Everyone who asks for the same shares one read. */
export class SlowReads<Value> {
  readonly #kept = new Map<string, Kept<Value>>();

  /**
   * Resolves to the value, if it is there soon. Otherwise to undefined: the read goes on, and the next call
   * finds it. Rejects once if the read failed.
   */
  async find(key: string, read: () => Promise<Value>): Promise<Dated<Value> | undefined> {
    const known = this.#kept.get(key);
    const kept = known && isUsable(known) ? known : this.#start(key, read);
    const found = await Promise.race([kept.reading, nothingAfter(WAIT_MS)]).catch((error: unknown) => {
      this.#kept.delete(key);
      throw error;
    });
    kept.isAwaited ||= found === undefined;
    return found;
  }

  #start(key: string, read: () => Promise<Value>) {
    const reading = withPermit(() => dated(read));
    const kept: Kept<Value> = { endedMs: undefined, isAwaited: false, reading };
    const end = () => void (kept.endedMs = Date.now());
    // A failure is for the next who asks.
    kept.reading.then(end, end);
    // As the newest.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [first] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(first!);
    return kept;
  }
}

function isUsable({ endedMs, isAwaited }: Kept<unknown>) {
  if (endedMs === undefined) return true;
  return isAwaited && Date.now() < endedMs + COMES_BACK_MS;
}

async function dated<Value>(read: () => Promise<Value>): Promise<Dated<Value>> {
  const at = new Date();
  return { at, value: await read() };
}

const nothingAfter = (ms: number) =>
  new Promise<undefined>((resolve) => void setTimeout(resolve, ms, undefined));

/**
 * Returns a function that reads at most a tenth of the time: what takes long to read is shown for longer.
 */
export function paced<Value>(read: () => Promise<Value>) {
  let latest: { value: Value; untilMs: number } | undefined;
  return async () => {
    const startMs = performance.now();
    if (latest && startMs < latest.untilMs) return latest.value;
    const value = await read();
    const endMs = performance.now();
    latest = { value, untilMs: endMs + (PACE - 1) * (endMs - startMs) };
    return value;
  };
}
