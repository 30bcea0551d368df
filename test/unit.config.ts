import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// What starts a server, or needs one of the global setup's.
const NEEDS_SERVERS =
  /startPostgres|runStandalone|inject\(|harness\/(?!(?:temporary-directory|wait-until)\.ts)/;

const root = new URL('..', import.meta.url).pathname;
const exclude = ['**/node_modules/**'];
const tests = globSync('{apps,packages,test/layout,test/histories}/**/*.test.ts', { cwd: root, exclude });

// The tests that need no server: an answer within seconds, while one writes.
export default defineConfig({
  root,
  test: {
    include: tests.filter((file) => !NEEDS_SERVERS.test(readFileSync(root + file, 'utf8'))),
    maxWorkers: 2,
  },
});
