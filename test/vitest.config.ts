import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './servers/longest-first.ts';
import { FILES_NOT_ON_CITUS, FOLDERS_ON_CITUS } from './servers/not-on-citus.ts';
import { filesByTier, GATE_ON_CITUS, unitTests, type Tier } from './tiers.ts';

/** `named`: files that the command line names, whatever their tier. `unit`: the tests of the gate that need no server. */
type Mode = Tier | 'named' | 'unit';

const root = new URL('..', import.meta.url).pathname;

/** These start their own servers. They run alone: each uses the whole machine, and other tests would lack time. */
const isFaultCampaign = (file: string) =>
  file.startsWith('test/faults/') && file.endsWith('.evidence.test.ts');

function projectsOf(mode: Mode): TestProjectInlineConfiguration[] {
  if (mode === 'unit') return [inRoot({ name: 'unit', include: unitTests() })];
  const tiers = filesByTier();
  const all = [...new Set(Object.values(tiers).flat())];
  const files = mode === 'named' ? all : tiers[mode];
  const tier: Tier = mode === 'named' ? 'gate' : mode;
  const common = { globalSetup: ['test/servers/global-setup.ts'], provide: { tier } };
  // A project is named by what its databases live on.
  const postgres = { ...common, name: 'postgres', include: files.filter((file) => !isFaultCampaign(file)) };
  const citus = {
    ...common,
    name: 'citus',
    include: process.env['TEST_CITUS_URL'] ? onCitus(mode, all) : [],
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
  return [postgres, citus, faults].filter(({ include }) => include.length > 0).map(inRoot);
}

const inRoot = (
  test: NonNullable<TestProjectInlineConfiguration['test']>,
): TestProjectInlineConfiguration => ({
  extends: true,
  root,
  test,
});

/**
 * Returns the files that run on Citus: in the gate those that call the SQL functions, otherwise all that can, without
 * those of the timing tier.
 */
function onCitus(mode: Mode, files: readonly string[]): string[] {
  if (mode === 'timing') return [];
  if (mode === 'gate') return GATE_ON_CITUS;
  const left = Object.values(FILES_NOT_ON_CITUS).flat();
  return files.filter((file) => {
    if (mode === 'evidence' && file.endsWith('.timing.test.ts')) return false;
    const [, folder, name] = /^test\/([^/]+)\/(.+)\.test\.ts$/.exec(file) ?? [];
    return folder && FOLDERS_ON_CITUS.includes(folder) && !left.includes(`${folder}/${name}`);
  });
}

export default defineConfig(({ mode }) => ({
  root,
  test: {
    pool: 'forks',
    // Files of a worker share its modules, its database and its API (harness/shared-servers.ts).
    isolate: false,
    reporters: ['default', new URL('servers/outcome-reporter.ts', import.meta.url).pathname],
    // Most tests wait for servers and processes: half of two cores is idle with two workers.
    maxWorkers: mode === 'timing' ? 1 : mode === 'evidence' ? 2 : 3,
    sequence: { sequencer: LongestFirst },
    // Only for tests that hang: a busy machine can be several times slower.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that leaves something running is a test that fails elsewhere, later.
    teardownTimeout: 60_000,
    projects: projectsOf(mode === 'test' ? 'gate' : (mode as Mode)),
  },
}));
