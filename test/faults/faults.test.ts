import { expect, test } from 'vitest';
import { missingCitus } from '../servers/citus.ts';
import { redisServerCommand } from '../servers/redis.ts';
import { runCampaign, type CampaignOptions } from './campaign.ts';
import { runClientCampaign } from './client-campaign.ts';
import { describeClientCampaign, describeRound, describeViolations } from './report.ts';

const ROUNDS = 15;
const ROUNDS_ON_CITUS = 3;
const CLIENT_REGISTRATIONS = 10_000;
const HOLD_MS = { from: 200, to: 800 };
/** A batch takes several times as long on Citus. Within this time, every event of the other nodes must be sold from. */
const HOLD_ON_CITUS_MS = { from: 2_000, to: 3_000 };
const noRedis = redisServerCommand() || process.env['CI'] ? '' : 'needs a redis-server on the PATH';
const noCitus = noRedis || (missingCitus() ?? '');
const because = (reason: string) => (reason === '' ? '' : ` (skipped: ${reason})`);

// The long version is npm run test:faults. Set FAULTS_SEED to run a campaign again.
test.skipIf(noRedis !== '')(
  `${ROUNDS} rounds of faults under load: nothing lost, doubled, oversold or stuck${because(noRedis)}`,
  { timeout: 600_000 },
  () => expectNothingBroken({ rounds: ROUNDS }),
);

test.skipIf(noCitus !== '')(
  `${ROUNDS_ON_CITUS} rounds on a Citus cluster, of whose worker nodes one is away${because(noCitus)}`,
  { timeout: 600_000 },
  () => expectNothingBroken({ rounds: ROUNDS_ON_CITUS, isOnCitus: true, onlyFault: 'worker node' }),
);

test.skipIf(noRedis !== '')(
  `${CLIENT_REGISTRATIONS} registrations by the client while every fault strikes: each is there once, or was sold out${because(noRedis)}`,
  { timeout: 600_000 },
  async () => {
    const result = await runClientCampaign({
      seed: Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 31),
      registrations: CLIENT_REGISTRATIONS,
      hold: HOLD_MS,
      onStruck: () => {},
      onMissing: (fault, reason) => process.stdout.write(`left out: ${fault.name} (${reason})\n`),
    });
    expect(result.violations, describeClientCampaign(result)).toEqual([]);
    expect(result.granted).toBe(result.stored);
    // The others were sold out, or in a group with one that was.
    expect(result.granted).toBeGreaterThan(0.9 * CLIENT_REGISTRATIONS);
  },
);

async function expectNothingBroken(
  options: Pick<CampaignOptions, 'rounds' | 'isOnCitus' | 'onlyFault'>,
): Promise<void> {
  const { rounds, isOnCitus = false, onlyFault } = options;
  const hold = isOnCitus ? HOLD_ON_CITUS_MS : HOLD_MS;
  const seed = Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 31);
  const replay = [
    `npm run test:faults -- --seed ${seed} --hold-ms ${hold.from}-${hold.to}`,
    ...(isOnCitus ? ['--citus'] : []),
    ...(onlyFault === undefined ? [] : [`--fault '${onlyFault}'`]),
  ].join(' ');
  const broken: string[] = [];
  const results = await runCampaign({
    ...options,
    seed,
    hold,
    isLong: false,
    onRound: (round, result) => {
      if (result.violations.length === 0) return;
      broken.push(
        describeRound(`round ${round}:`, result),
        describeViolations(`${replay} --round ${round}`, result),
      );
    },
    onMissing: (fault, reason) => process.stdout.write(`left out: ${fault.name} (${reason})\n`),
  });
  expect(broken.join('\n')).toBe('');
  expect(results).toHaveLength(rounds);
}
