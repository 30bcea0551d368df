import { defineConfig } from 'vitest/config';

// Unit tests lie beside the code, tests that cross packages below test/. Both may use the services.
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['{apps,packages}/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/servers/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A test that leaves something running is a test that fails elsewhere, later.
    teardownTimeout: 20_000,
  },
});
