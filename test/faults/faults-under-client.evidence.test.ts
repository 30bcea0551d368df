import { expect, test } from 'vitest';
import { runClientCampaign } from './client-campaign.ts';
import { because, noRedis } from './missing.ts';
import { describeClientCampaign } from './report.ts';

const REGISTRATIONS = 10_000;

// The long version is npm run test:faults -- --client. Set FAULTS_SEED to run a campaign again.
test.skipIf(noRedis !== '')(
  `${REGISTRATIONS} registrations by the client while every fault strikes: each is there once, or was sold out${because(noRedis)}`,
  { timeout: 1_800_000 },
  async () => {
    const result = await runClientCampaign({
      seed: Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 31),
      registrations: REGISTRATIONS,
      hold: { from: 200, to: 800 },
      onStruck: () => {},
      onMissing: (fault, reason) => process.stdout.write(`left out: ${fault.name} (${reason})\n`),
    });
    process.stdout.write(`${describeClientCampaign(result)}\n`);
    expect(result.violations, describeClientCampaign(result)).toEqual([]);
    expect(result.granted).toBe(result.stored);
    // The others were sold out, or in a group with one that was.
    expect(result.granted).toBeGreaterThan(0.9 * REGISTRATIONS);
  },
);
