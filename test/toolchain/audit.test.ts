import { spawnSync } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary-directory.ts';

const AUDIT = path.resolve(import.meta.dirname, '../../packages/toolchain/audit.mjs');

/** Runs the audit where `npx` prints this and ends with this code. */
async function audit(printed: string, code: number) {
  await using directory = await temporaryDirectory();
  const npx = directory.file('npx');
  await writeFile(npx, `#!/bin/sh\ncat <<'END'\n${printed}\nEND\nexit ${code}\n`);
  await chmod(npx, 0o755);
  const env = { ...process.env, PATH: `${path.dirname(npx)}${path.delimiter}${process.env['PATH']}` };
  const { status, stdout } = spawnSync(process.execPath, [AUDIT], { env, encoding: 'utf8' });
  return { status, stdout };
}

const counts = (high: number) => JSON.stringify({ metadata: { vulnerabilities: { high } } });

test('without a known vulnerability the audit passes', async () => {
  expect(await audit(counts(0), 0)).toEqual({ status: 0, stdout: 'no known vulnerability\n' });
});

test('a known vulnerability fails', async () => {
  expect(await audit(counts(1), 1)).toMatchObject({ status: 1 });
});

test.each([
  ['an error of the registry', JSON.stringify({ error: { code: 'E', message: 'status 403' } }), 1],
  ['an error that is ignored', 'The audit endpoint responded with 500: broken', 0],
  ['an empty answer', '{}', 0],
])('%s never looks like a pass', async (_, printed, code) => {
  const { status, stdout } = await audit(printed, code);
  expect(status).toBe(3);
  expect(stdout).toMatch(/^not audited: ./);
});
