import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './servers/longest-first.ts';
import { FILES_NOT_ON_CITUS, FOLDERS_ON_CITUS } from './servers/not-on-citus.ts';
import { filesByTier, GATE_ON_CITUS, type Tier } from './tiers.ts';

const root = new URL('..', import.meta.url).pathname;

/** These start their own servers. They run alone: each uses the whole machine, and other tests would lack time. */
const isFaultCampaign = (file: string) =>
  file.startsWith('test/faults/') && file.endsWith('.evidence.test.ts');

/** `named`: files that the command line names, whatever their tier. */
function projectsOf(mode: Tier | 'named'): TestProjectInlineConfiguration[] {
  const tiers = filesByTier();
  const files = mode === 'named' ? Object.values(tiers).flat() : tiers[mode];
  const common = {
    globalSetup: ['test/servers/global-setup.ts'],
    provide: { tier: mode === 'named' ? 'gate' : mode },
  };
  // A project is named by what its databases live on.
  const postgres = { ...common, name: 'postgres', include: files.filter((file) => !isFaultCampaign(file)) };
  const citus = {
    ...common,
    name: 'citus',
    include: onCitus(mode, Object.values(tiers).flat()),
    setupFiles: ['test/servers/citus-setup.ts'],
    // After the tests that end the cluster's servers.
    sequence: { groupOrder: 1 },
  };
  const faults = {
    name: 'faults',
    include: files.filter(isFaultCampaign),
    fileParallelism: false,
    sequence: { groupOrder: 2 },
  };
  return [postgres, ...(process.env['TEST_CITUS_URL'] ? [citus] : []), faults]
    .filter(({ include }) => include.length > 0)
    .map((test) => ({ extends: true, root, test }));
}

function onCitus(mode: Tier | 'named', files: readonly string[]): string[] {
  if (mode === 'gate') return GATE_ON_CITUS;
  if (mode === 'timing') return [];
  const left = new Set(
    Object.values(FILES_NOT_ON_CITUS)
      .flat()
      .map((file) => `test/${file}.test.ts`),
  );
  return files.filter(
    (file) => FOLDERS_ON_CITUS.includes(file.split('/')[1]!) && file.startsWith('test/') && !left.has(file),
  );
}

export default defineConfig(({ mode }) => ({
  root,
  test: {
    pool: 'forks',
    // Files of a worker share its modules, its database and its API (harness/shared-servers.ts).
    isolate: false,
    reporters: ['default', new URL('servers/outcome-reporter.ts', import.meta.url).pathname],
    // Most tests wait for servers and processes: half of two cores is idle with two workers.
    maxWorkers: mode === 'timing' ? 1 : 3,
    sequence: { sequencer: LongestFirst },
    // Only for tests that hang: a busy machine can be several times slower.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that leaves something running is a test that fails elsewhere, later.
    teardownTimeout: 60_000,
    projects: projectsOf(mode === 'test' ? 'gate' : (mode as Tier | 'named')),
  },
}));
