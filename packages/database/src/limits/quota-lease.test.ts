import fc from 'fast-check';
import { sleep } from '@floodgate/service/clock';
import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { createQuotaLease, type QuotaLease } from './quota-lease.ts';

// The clock, and the counter, which counts as Postgres does, belong to the test.
let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

const WINDOW_MS = 1_000;
const windowOf = (ms: number) => Math.floor(ms / WINDOW_MS);

/** A shared counter on the test's clock, whose answers take a while. */
class Counter {
  readonly draws: number[] = [];
  isReachable = true;
  readonly #roundTripMs: number;
  #drawn = 0;
  #window = -1;

  constructor(roundTripMs = 0) {
    this.#roundTripMs = roundTripMs;
  }

  readonly draw = async (wanted: number) => {
    this.draws.push(wanted);
    await this.#travel(Math.ceil(this.#roundTripMs / 2));
    if (!this.isReachable) return null;
    const now = clock.now();
    const window = windowOf(now);
    if (window !== this.#window) this.#drawn = 0;
    this.#window = window;
    const drawnBefore = this.#drawn;
    this.#drawn += wanted;
    await this.#travel(Math.floor(this.#roundTripMs / 2));
    return { drawnBefore, endsInMs: (window + 1) * WINDOW_MS - now };
  };

  #travel(durationMs: number): Promise<void> {
    return durationMs === 0 ? Promise.resolve() : sleep(clock, durationMs);
  }
}

async function takeMany(lease: QuotaLease, count: number, limit: number): Promise<number> {
  let admitted = 0;
  for (let index = 0; index < count; index++) if ((await lease.take(limit)).admitted) admitted += 1;
  return admitted;
}

const toNextWindow = () => clock.advance(WINDOW_MS - (clock.now() % WINDOW_MS));

test('a draw ahead is at most the permits spent before, and at most a tenth of the limit', async () => {
  const counter = new Counter();
  await takeMany(createQuotaLease(counter.draw, clock), 48, 100);
  expect(counter.draws).toEqual([1, 1, 2, 4, 8, 10, 10, 10, 10]);
});

test('a refused request is told to retry when those that were refused before it can have been admitted', async () => {
  const lease = createQuotaLease(new Counter().draw, clock);
  await takeMany(lease, 5, 5);
  const delays: (number | undefined)[] = [];
  for (let index = 0; index < 12; index++) delays.push((await lease.take(5)).retryAfterSeconds);
  expect(delays).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3]);
  await toNextWindow();
  expect(await lease.take(5)).toMatchObject({ admitted: true });
  expect(await lease.take(5, 5)).toMatchObject({ admitted: false, retryAfterSeconds: 1 });
});

test('a permit that was drawn before is taken without a draw', async () => {
  const counter = new Counter();
  const lease = createQuotaLease(counter.draw, clock);
  await takeMany(lease, 5, 100);
  const asked = counter.draws.length;
  expect(await lease.take(100)).toMatchObject({ admitted: true, remaining: 94 });
  expect(counter.draws).toHaveLength(asked);
});

test('a verdict says when the second ends, admitted or refused', async () => {
  const lease = createQuotaLease(new Counter().draw, clock);
  await toNextWindow();
  for (const [passedMs, admitted] of [
    [300, true],
    [400, true],
    [200, false],
  ] as const) {
    await clock.advance(passedMs);
    expect(await lease.take(2)).toMatchObject({ admitted });
  }
  expect(await lease.take(2)).toMatchObject({ endsInMs: 100 });
});

test('requests without a permit wait for one draw, and the next draw is for all that still wait', async () => {
  const counter = new Counter(10);
  const lease = createQuotaLease(counter.draw, clock);
  const verdicts = Array.from({ length: 50 }, () => lease.take(1_000));
  await clock.runAll();
  expect((await Promise.all(verdicts)).every(({ admitted }) => admitted)).toBe(true);
  expect(counter.draws).toEqual([1, 49]);
});

test('when the limit is reached, the rest of the second is refused without a draw', async () => {
  const counter = new Counter();
  const lease = createQuotaLease(counter.draw, clock);
  expect(await takeMany(lease, 30, 20)).toBe(20);
  const asked = counter.draws.length;
  expect(await lease.take(20)).toMatchObject({ admitted: false, remaining: 0 });
  expect(counter.draws).toHaveLength(asked);
  await toNextWindow();
  expect(await takeMany(lease, 30, 20)).toBe(20);
});

test('unspent permits expire with their second', async () => {
  const counter = new Counter();
  const lease = createQuotaLease(counter.draw, clock);
  await takeMany(lease, 9, 100);
  const asked = counter.draws.length;
  await toNextWindow();
  await takeMany(lease, 1, 100);
  expect(counter.draws).toHaveLength(asked + 1);
});

test('a raised limit applies at once, even if the old one was reached', async () => {
  const lease = createQuotaLease(new Counter().draw, clock);
  expect(await takeMany(lease, 6, 5)).toBe(5);
  expect(await takeMany(lease, 20, 10)).toBe(5);
});

test('the remaining permits are those of all processes, as of the last draw', async () => {
  const counter = new Counter();
  const [one, other] = [createQuotaLease(counter.draw, clock), createQuotaLease(counter.draw, clock)];
  await takeMany(one, 60, 100);
  expect(await other.take(100)).toMatchObject({ admitted: true, remaining: 33 });
});

test('without the counter, a process enforces the limit by itself, and draws again after a second', async () => {
  const counter = new Counter();
  counter.isReachable = false;
  const lease = createQuotaLease(counter.draw, clock);
  expect(await takeMany(lease, 30, 20)).toBe(20);
  expect(counter.draws).toHaveLength(1);
  await clock.advance(WINDOW_MS);
  counter.isReachable = true;
  expect(await takeMany(lease, 30, 20)).toBe(20);
  expect(counter.draws.length).toBeGreaterThan(2);
});

test('an outage of the counter within a second does not grant the limit a second time', async () => {
  const counter = new Counter();
  const lease = createQuotaLease(counter.draw, clock);
  expect(await takeMany(lease, 15, 20)).toBe(15);
  counter.isReachable = false;
  expect(await takeMany(lease, 30, 20)).toBe(5);
});

test('a draw does not restore permits that were spent during it', async () => {
  const limit = 100;
  const lease = createQuotaLease(new Counter(20).draw, clock);
  const first = windowOf(clock.now());
  const singles = takeMany(lease, 48, limit);
  await clock.runAll();
  // Eight permits are left, twelve more are drawn, and the eight are spent during the draw.
  const bulk = lease.take(limit, 20);
  const meanwhile = takeMany(lease, 8, limit);
  await clock.runAll();
  const rest = takeMany(lease, limit, limit);
  await clock.runAll();
  expect(windowOf(clock.now())).toBe(first);
  const bulkPermits = (await bulk).admitted ? 20 : 0;
  expect((await singles) + (await meanwhile) + bulkPermits + (await rest)).toBe(limit);
});

test('permits of a second that ended during a draw are not spent in the next one', async () => {
  const counter = new Counter();
  let delayMs = 0;
  const draw = async (wanted: number) => {
    if (delayMs > 0) await sleep(clock, delayMs);
    return counter.draw(wanted);
  };
  const lease = createQuotaLease(draw, clock);
  await toNextWindow();
  // Eight permits are left.
  await takeMany(lease, 48, 100);
  await clock.advance(950);
  const before = counter.draws.length;
  delayMs = 100;
  const bulk = lease.take(100, 20);
  await clock.runAll();
  expect(await bulk).toMatchObject({ admitted: true });
  const drawn = counter.draws.slice(before).reduce((sum, permits) => sum + permits, 0);
  expect(drawn).toBeGreaterThanOrEqual(20);
});

interface Burst {
  process: number;
  requests: number;
  /** Permits that each request takes. */
  permits: number;
  pauseMs: number;
}

test('several processes never admit more than the limit in a second, under random traffic', async () => {
  const traffic: fc.Arbitrary<Burst[]> = fc.array(
    fc.record({
      process: fc.nat(3),
      requests: fc.integer({ min: 1, max: 40 }),
      permits: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 30 })),
      pauseMs: fc.nat(300),
    }),
    { minLength: 1, maxLength: 60 },
  );
  const property = async (limit: number, roundTripMs: number, bursts: Burst[]) => {
    clock = new ManualClock();
    const counter = new Counter(roundTripMs);
    const leases = Array.from({ length: 4 }, () => createQuotaLease(counter.draw, clock));
    const admitted = new Map<number, number>();
    const take = async (lease: QuotaLease, permits: number) => {
      const verdict = await lease.take(limit, permits);
      const second = windowOf(clock.now());
      if (verdict.admitted) admitted.set(second, (admitted.get(second) ?? 0) + permits);
    };
    for (const { process, requests, permits, pauseMs } of bursts) {
      for (let index = 0; index < requests; index++) void take(leases[process]!, permits);
      await clock.advance(pauseMs);
    }
    await clock.runAll();
    expect(Math.max(0, ...admitted.values())).toBeLessThanOrEqual(limit);
  };
  const limits = fc.integer({ min: 1, max: 100 });
  await fc.assert(fc.asyncProperty(limits, fc.nat(200), traffic, property), { numRuns: 200 });
});

test.each([1, 2, 3])(
  'single and large requests at %i processes together use the limit',
  async (processes) => {
    const limit = 100;
    const counter = new Counter(10);
    const endsAt = clock.now() + 4 * WINDOW_MS;
    const admitted = new Map<number, number>();
    /** Sends one request after another, and waits for 5 ms after each answer, as a partner does. */
    const ask = async (lease: QuotaLease, permits: number) => {
      while (clock.now() < endsAt) {
        const verdict = await lease.take(limit, permits);
        const second = windowOf(clock.now());
        if (verdict.admitted) admitted.set(second, (admitted.get(second) ?? 0) + permits);
        await sleep(clock, 5);
      }
    };
    const leases = Array.from({ length: processes }, () => createQuotaLease(counter.draw, clock));
    for (const lease of leases) for (const permits of [1, 1, 1, 1, 2, 5, 20, 30]) void ask(lease, permits);
    await clock.runAll();
    // The first and the last second are not whole ones.
    const used = [...admitted.values()].slice(1, 4);
    expect(used).toHaveLength(3);
    for (const permits of used) {
      expect(permits).toBeLessThanOrEqual(limit);
      expect(permits).toBeGreaterThanOrEqual(0.8 * limit);
    }
  },
);
