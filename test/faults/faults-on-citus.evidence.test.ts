import { test } from 'vitest';
import { expectNothingBroken } from './expect-nothing-broken.ts';
import { because, noCitus } from './missing.ts';

const EXTRA_ROUNDS = 10;
/** A batch takes several times as long on Citus. Within this time, every event of the other nodes must be sold from. */
const HOLD_MS = { from: 2_000, to: 3_000 };

// The long version is npm run test:faults -- --citus.
test.skipIf(noCitus !== '')(
  `a Citus cluster, of whose worker nodes one is away: each fault, and every listed state was met${because(noCitus)}`,
  { timeout: 3_600_000 },
  () =>
    expectNothingBroken({
      extraRounds: EXTRA_ROUNDS,
      hold: HOLD_MS,
      isOnCitus: true,
      onlyFault: 'worker node',
    }),
);
