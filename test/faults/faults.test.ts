import { test } from 'vitest';
import { expectNothingBroken } from './expect-nothing-broken.ts';
import { because, noRedis } from './missing.ts';

const ROUNDS = 15;

// The long version is npm run test:faults.
test.skipIf(noRedis !== '')(
  `${ROUNDS} rounds of faults under load: nothing lost, doubled, oversold or stuck${because(noRedis)}`,
  { timeout: 600_000 },
  () => expectNothingBroken({ rounds: ROUNDS, hold: { from: 200, to: 800 } }),
);
