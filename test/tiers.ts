import { globSync, readFileSync } from 'node:fs';

/**
 * Which tests run when. A file that is not listed here is in the gate.
 *
 *   gate       npm test                 decides whether a change lands; asserts no upper bound on time
 *   evidence   npm run test:evidence    real faults in real time; needs a machine for itself
 *   timing     npm run test:timing      shares, rates, latencies; reports and never gates
 *
 * `npm test -- <part of a path>` runs the named files, whatever their tier.
 */
export type Tier = 'gate' | 'evidence' | 'timing';

/** Files of the evidence tier, by the reason why they are not in the gate. */
const EVIDENCE: Record<string, string[]> = {
  'strikes with real faults, and waits in real time until the service has recovered': [
    'test/**/*.evidence.test.ts',
    'test/citus/*.test.ts',
    'test/end-to-end/{failover,processes,restore}.test.ts',
    'test/queue/{cluster-failover,half-open,sentinel}.test.ts',
    'test/deliveries/crashes.test.ts',
    'test/mail/at-most-once.test.ts',
  ],
  'installs, builds or runs containers, or reads what is deployed with programs of its own': [
    'test/end-to-end/{compose,compose-proxy,install,npm-scripts,upgrade}.test.ts',
    'test/fleet/*.test.ts',
    'test/client/package.test.ts',
  ],
  'loads a whole installation, as the benchmark and the rehearsal do': [
    'apps/bench/src/main.test.ts',
    'apps/bench/src/contenders/*.test.ts',
    'test/rehearsal/rehearse.test.ts',
  ],
  'reads 100 distorted codes from the picture of a camera, one after the other': [
    'test/door-app/camera.test.ts',
  ],
};

/** Files that run in the gate, and do more in the evidence tier (`inject('tier')`). */
const LONGER_IN_EVIDENCE = [
  'test/console/walk.test.ts',
  'test/console/twelve-tasks.test.ts',
  'test/console/event-looks.test.ts',
  'test/console/pages.test.ts',
  'test/door-app/app.test.ts',
  'test/door/model.test.ts',
  'test/door-app/scanning.test.ts',
  'test/end-to-end/docs-page.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/queue/queue-problems.test.ts',
  'test/registrations/reserve-batch.test.ts',
  'test/waiting-list/interleavings.test.ts',
];

/** Files of the timing tier. Each compares with a reference that is measured in the same run. */
const TIMING: Record<string, string[]> = {
  'a share, a rate or a latency under load': [
    '{apps,packages}/*/src/**/*.timing.test.ts',
    'test/**/*.timing.test.ts',
  ],
};

/** The files of the gate that also run on Citus, where there is a cluster. The evidence tier runs everything there. */
export const GATE_ON_CITUS = ['test/database/sql-functions.test.ts'];

const root = new URL('..', import.meta.url).pathname;
const exclude = ['**/node_modules/**'];

/** Returns the files of each tier, relative to the root of the repository. Throws if an entry matches no file. */
export function filesByTier(): Record<Tier, string[]> {
  const evidence = matching(EVIDENCE);
  const timing = matching(TIMING);
  const listed = new Set([...evidence, ...timing]);
  // Unit tests lie beside the code, tests that cross packages below test/.
  const all = globSync(['{apps,packages}/*/src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root, exclude });
  const gate = all.filter((file) => !listed.has(file));
  return { gate, evidence: [...evidence, ...LONGER_IN_EVIDENCE], timing };
}

function matching(filesByReason: Record<string, string[]>): string[] {
  return Object.values(filesByReason)
    .flat()
    .flatMap((pattern) => {
      const files = globSync(pattern, { cwd: root, exclude });
      if (files.length === 0) throw new Error(`test/tiers.ts: no file matches ${pattern}`);
      return files;
    });
}

/** What starts a server, or needs one of the global setup's. */
const NEEDS_SERVERS =
  /startPostgres|runStandalone|inject\(|harness\/(?!(?:temporary-directory|wait-until|manual-clock)\.ts)/;

/** Returns the tests of the gate that need no server. They answer within seconds, while one writes. */
export const unitTests = (): string[] =>
  filesByTier().gate.filter(
    (file) =>
      (!file.startsWith('test/') || /^test\/(layout|histories)\//.test(file)) &&
      !NEEDS_SERVERS.test(readFileSync(root + file, 'utf8')),
  );
