import { defineConfig } from 'vitest/config';

const root = new URL('..', import.meta.url).pathname;

// Unit tests lie beside the code, tests that cross packages below test/. Both may use the services.
const EVERYTHING = ['{apps,packages}/*/src/**/*.test.ts', 'test/**/*.test.ts'];

// A project is named by what its databases live on.
const postgres = { name: 'postgres', include: EVERYTHING };
const citus = {
  name: 'citus',
  include: ['test/{audit,database,end-to-end,http,journal,partners,queue,registrations,service}/*.test.ts'],
  // After the tests that end the cluster's servers.
  sequence: { groupOrder: 1 },
};

export default defineConfig({
  root,
  test: {
    pool: 'forks',
    maxWorkers: 2,
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
