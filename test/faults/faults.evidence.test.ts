import { test } from 'vitest';
import { expectNothingBroken } from './expect-nothing-broken.ts';
import { because, noRedis } from './missing.ts';

/** Each of them with a fault of which a listed pair was missed. */
const EXTRA_ROUNDS = 20;

// The long version is npm run test:faults.
test.skipIf(noRedis !== '')(
  `each fault under load: nothing lost, doubled, oversold or stuck, and every listed state was met${because(noRedis)}`,
  { timeout: 3_600_000 },
  () => expectNothingBroken({ extraRounds: EXTRA_ROUNDS, hold: { from: 400, to: 1_200 } }),
);
