import { defaultExclude, defineConfig } from 'vitest/config';
import { LongestFirst } from './servers/longest-first.ts';
import { FILES_NOT_ON_CITUS, FOLDERS_ON_CITUS } from './servers/not-on-citus.ts';

const root = new URL('..', import.meta.url).pathname;

// Unit tests lie beside the code, tests that cross packages below test/. Both may use the services.
const EVERYTHING = ['{apps,packages}/*/src/**/*.test.ts', 'test/**/*.test.ts'];

const FAULTS = ['test/faults/*.evidence.test.ts'];

const globalSetup = ['test/servers/global-setup.ts'];

// A project is named by what its databases live on.
const postgres = {
  name: 'postgres',
  include: EVERYTHING,
  exclude: [...defaultExclude, ...FAULTS],
  globalSetup,
};
const citus = {
  name: 'citus',
  globalSetup,
  include: [`test/{${FOLDERS_ON_CITUS.join(',')}}/*.test.ts`],
  exclude: Object.values(FILES_NOT_ON_CITUS)
    .flat()
    .map((file) => `test/${file}.test.ts`),
  setupFiles: ['test/servers/citus-setup.ts'],
  // After the tests that end the cluster's servers.
  sequence: { groupOrder: 1 },
};
// Its files start their own servers. They run at the same time, because each of them waits for faults to end and uses half of the two
// cores. They do not run at the same time as other tests: those would fail for lack of time.
const faults = { name: 'faults', include: FAULTS, sequence: { groupOrder: 2 } };

export default defineConfig({
  root,
  test: {
    pool: 'forks',
    // Most tests wait for servers and processes: half of two cores is idle with two workers.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Only for tests that hang: a busy machine can be several times slower.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that leaves something running is a test that fails elsewhere, later.
    teardownTimeout: 60_000,
    projects: [postgres, ...(process.env['TEST_CITUS_URL'] ? [citus] : []), faults].map((project) => ({
      extends: true as const,
      root,
      test: project,
    })),
  },
});
