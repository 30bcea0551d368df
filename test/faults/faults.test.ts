import { expect, test } from 'vitest';
import { redisServerCommand } from '../servers/redis.ts';
import { runCampaign } from './campaign.ts';
import { describeRound, describeViolations } from './report.ts';

const ROUNDS = 20;
const HOLD_MS = { from: 200, to: 800 };

// The long version is npm run test:faults. Set FAULTS_SEED to run a campaign again.
test.skipIf(!redisServerCommand() && !process.env['CI'])(
  `${ROUNDS} rounds of faults under load: nothing lost, doubled, oversold or stuck (needs a redis-server on the PATH)`,
  { timeout: 600_000 },
  async () => {
    const seed = Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 31);
    const replay = `npm run test:faults -- --seed ${seed} --hold-ms ${HOLD_MS.from}-${HOLD_MS.to}`;
    const broken: string[] = [];
    const results = await runCampaign({
      seed,
      rounds: ROUNDS,
      hold: HOLD_MS,
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
    expect(results).toHaveLength(ROUNDS);
  },
);
