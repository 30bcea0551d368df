import { defineConfig } from 'vitest/config';
import { LongestFirst } from './servers/longest-first.ts';
import { FILES_NOT_ON_CITUS, FOLDERS_ON_CITUS } from './servers/not-on-citus.ts';

const root = new URL('..', import.meta.url).pathname;

// Unit tests lie beside the code, tests that cross packages below test/. Both may use the services.
const EVERYTHING = ['{apps,packages}/*/src/**/*.test.ts', 'test/**/*.test.ts'];

// A project is named by what its databases live on.
const postgres = { name: 'postgres', include: EVERYTHING };
const citus = {
  name: 'citus',
  include: [`test/{${FOLDERS_ON_CITUS.join(',')}}/*.test.ts`],
  exclude: Object.values(FILES_NOT_ON_CITUS)
    .flat()
    .map((file) => `test/${file}.test.ts`),
  setupFiles: ['test/servers/citus-setup.ts'],
  // After the tests that end the cluster's servers.
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  root,
  test: {
    pool: 'forks',
    // Most tests wait for servers and processes: half of two cores is idle with two workers.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A test that leaves something running is a test that fails elsewhere, later.
    teardownTimeout: 20_000,
    projects: [postgres, ...(process.env['TEST_CITUS_URL'] ? [citus] : [])].map((project) => ({
      extends: true as const,
      root,
      test: { ...project, globalSetup: ['test/servers/global-setup.ts'] },
    })),
  },
});
