import { expect } from 'vitest';
import { runCampaign, type CampaignOptions } from './campaign.ts';
import { reachedTable } from './reached.ts';
import { describeMissed, describeRound, describeViolations, recoveryTable } from './report.ts';
import type { RoundResult } from './run-round.ts';

type Options = Pick<CampaignOptions, 'extraRounds' | 'hold' | 'isOnCitus' | 'onlyFault'>;

/**
 * Runs rounds of faults, and fails if one of them shows a violation, or if a listed pair of fault and state
 * was not met. Set FAULTS_SEED to run a campaign again.
 */
export async function expectNothingBroken(options: Options): Promise<void> {
  const seed = Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 31);
  const broken: string[] = [];
  const { results, reached, missed } = await runCampaign({
    ...options,
    seed,
    isLong: false,
    onRound: (round, result, isExtra) => {
      process.stdout.write(`${describeRound(String(round), result)}\n`);
      if (result.violations.length === 0) return;
      const again = `${replayOf(options, seed, isExtra ? result : null)} --round ${round}`;
      broken.push(describeRound(`round ${round}:`, result), describeViolations(again, result));
    },
    onMissing: (fault, reason) => process.stdout.write(`left out: ${fault.name} (${reason})\n`),
  });
  process.stdout.write(`seed ${seed}\n${recoveryTable(results)}\n\n${reachedTable(reached)}\n`);
  const tables = missed.length > 0 ? [describeMissed(missed), reachedTable(reached)] : [];
  expect([...broken, ...tables].join('\n')).toBe('');
  expect(results.length).toBeGreaterThan(0);
}

/** The command that runs a round again. A round for a missed pair has its fault alone. */
function replayOf({ hold, isOnCitus, onlyFault }: Options, seed: number, extra: RoundResult | null): string {
  const fault = extra?.faults[0]?.name ?? onlyFault;
  return [
    `npm run test:faults -- --seed ${seed} --hold-ms ${hold.from}-${hold.to}`,
    ...(isOnCitus ? ['--citus'] : []),
    ...(fault === undefined ? [] : [`--fault '${fault}'`]),
  ].join(' ');
}
