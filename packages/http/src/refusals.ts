import type { FailureCode } from '@floodgate/contract';

/** Failed requests and failed items of bulk calls of this process so far, by response code. */
export const refusals: Partial<Record<FailureCode, number>> = {};

const SLICE_MS = 5 * 60_000;
/** An hour. */
const SLICES = 12;
/** Partners whose counts are reported: those with the most refusals. An installation has a few hundred. */
const MOST_PARTNERS = 500;

/** Refusals of partners in the last hour, by partner and code. */
type Counts = Record<number, Partial<Record<FailureCode, number>>>;

/**
 * Counts refusals of the last hour by partner and code, in slices of five minutes. The oldest slice ends with a
 * new one. Bounded by the partners and the codes, because only partners with a key are counted.
 */
export class RecentRefusals {
  readonly #slices: Map<number, Partial<Record<FailureCode, number>>>[] = [new Map()];
  readonly #now: () => number;
  #sliceEndsAt: number;

  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#sliceEndsAt = now() + SLICE_MS;
  }

  count(partnerId: number, code: FailureCode) {
    const ofPartner = this.#slices[0]!.getOrInsertComputed(partnerId, () => ({}));
    ofPartner[code] = (ofPartner[code] ?? 0) + 1;
  }

  /** Returns the counts of the partners with the most refusals. */
  read(): Counts {
    this.#endSlices();
    const sums = new Map<number, { total: number; codes: Partial<Record<FailureCode, number>> }>();
    for (const slice of this.#slices)
      for (const [partnerId, codes] of slice) {
        const sum = sums.getOrInsertComputed(partnerId, () => ({ total: 0, codes: {} }));
        for (const [code, count] of Object.entries(codes) as [FailureCode, number][]) {
          sum.codes[code] = (sum.codes[code] ?? 0) + count;
          sum.total += count;
        }
      }
    const most = [...sums].toSorted(([, one], [, other]) => other.total - one.total).slice(0, MOST_PARTNERS);
    return Object.fromEntries(most.map(([partnerId, { codes }]) => [partnerId, codes]));
  }

  #endSlices() {
    const ended = Math.floor((this.#now() - this.#sliceEndsAt) / SLICE_MS) + 1;
    if (ended <= 0) return;
    this.#sliceEndsAt += ended * SLICE_MS;
    const empty = Array.from({ length: Math.min(ended, SLICES) }, () => new Map());
    this.#slices.unshift(...empty);
    this.#slices.length = Math.min(this.#slices.length, SLICES);
  }
}

/** The refusals of this process. */
export const recentRefusals = new RecentRefusals();

/** Those of callers with a valid key, by event. Of the events with the latest refusals. */
const ofEvents = new Map<number, Partial<Record<FailureCode, number>>>();
const MOST_EVENTS = 100;

/** Returns the refusals of the events with the latest ones, since the process started. */
export const refusalsOfEvents = () => Object.fromEntries(ofEvents);

/** The sender of a refused request: the partner and the event of its key, as far as they are known. */
interface Refused {
  partnerId?: number | undefined;
  eventId?: number | undefined;
}

/** Counts a refusal. */
export function countRefusal(code: FailureCode, { partnerId, eventId }: Refused = {}) {
  refusals[code] = (refusals[code] ?? 0) + 1;
  if (partnerId !== undefined) recentRefusals.count(partnerId, code);
  if (eventId !== undefined) countOfEvent(eventId, code);
}

function countOfEvent(eventId: number, code: FailureCode) {
  const counts = ofEvents.get(eventId) ?? {};
  counts[code] = (counts[code] ?? 0) + 1;
  // The event moves to the end: the first one is that without a refusal for the longest time.
  ofEvents.delete(eventId);
  ofEvents.set(eventId, counts);
  if (ofEvents.size > MOST_EVENTS) ofEvents.delete(ofEvents.keys().next().value!);
}
