import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { FailedFile, Outcome } from './servers/outcome-reporter.ts';

// npm test and npm run test:evidence, test:timing, test:unit: runs the tests of a tier (tiers.ts), or the
// named files. In the gate, a failed file is run once more, alone. If it then passes, the run passes, and the
// last lines name the flaky tests. The last line is "N passed, N failed".

/** If more files fail, the code is broken, and a second run would only take time. */
const MAX_RERUNS = 8;

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
const NOTHING_RAN: Outcome = { passed: 0, failed: 1, skipped: 0, failedFiles: [], strayErrors: [] };

const [tier = 'gate', ...args] = process.argv.slice(2);
// An argument after an option can be its value, so only those before the first option name files.
const namesFiles = args[0] !== undefined && !args[0].startsWith('-');

async function runVitest(mode: string, more: readonly string[]): Promise<Outcome> {
  const directory = mkdtempSync(path.join(tmpdir(), 'floodgate-outcome-'));
  const file = path.join(directory, 'outcome.json');
  const child = spawn(process.execPath, [...VITEST, '--mode', mode, ...more], {
    stdio: 'inherit',
    env: { ...process.env, TEST_OUTCOME: file },
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward);
  const [code] = await once(child, 'exit');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, forward);
  const outcome = readOutcome(file);
  rmSync(directory, { recursive: true });
  // Vitest can fail without a failed test, for example if a server of the tests does not start.
  return code !== 0 && outcome.failed === 0 ? { ...outcome, failed: 1 } : outcome;
}

function readOutcome(file: string): Outcome {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Outcome;
  } catch {
    return NOTHING_RAN;
  }
}

/** Runs failed files once more, one after the other. Returns the lines about those that passed, and the counts. */
async function rerun(failedFiles: readonly FailedFile[]) {
  const flaky: string[] = [];
  let mended = 0;
  for (const { project, file, tests } of failedFiles) {
    process.stdout.write(`\nonce more, alone: ${file} (${project})\n`);
    const { failed } = await runVitest('named', [file, '--project', project]);
    if (failed > 0) continue;
    mended += Math.max(1, tests.length);
    for (const test of tests.length > 0 ? tests : ['an error outside any test'])
      flaky.push(`flaky: ${file} › ${test}`);
  }
  return { flaky, mended };
}

const outcome = await runVitest(namesFiles ? 'named' : tier, args);
const { failedFiles, strayErrors } = outcome;
const isWorthwhile = tier === 'gate' && !namesFiles && failedFiles.length <= MAX_RERUNS;
const { flaky, mended } = await rerun(isWorthwhile ? failedFiles : []);
const passed = outcome.passed + mended;
const failed = outcome.failed - mended;
for (const error of strayErrors) process.stdout.write(`error outside any test file: ${error}\n`);
process.stdout.write(flaky.map((line) => `${line}\n`).join(''));
process.stdout.write(
  `${passed} passed, ${failed} failed${outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : ''}\n`,
);
process.exitCode = failed > 0 ? 1 : 0;
