import { expect } from 'vitest';
import { runCampaign, type CampaignOptions } from './campaign.ts';
import { describeRound, describeViolations } from './report.ts';

type Options = Pick<CampaignOptions, 'rounds' | 'hold' | 'isOnCitus' | 'onlyFault'>;

/** Runs rounds of faults, and fails if one of them shows a violation. Set FAULTS_SEED to run a campaign again. */
export async function expectNothingBroken(options: Options): Promise<void> {
  const { rounds, hold, isOnCitus = false, onlyFault } = options;
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
