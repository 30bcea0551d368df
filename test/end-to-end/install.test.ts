import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DECIDING = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'];
const FILES = [
  ...DECIDING,
  'package.json',
  'packages/toolchain/run.mjs',
  'packages/toolchain/small-process.json',
];

/**
 * Copies what run.mjs needs, and puts a program in npx's place that only notes that it was called: as where
 * everything is there already, and no registry.
 */
async function copyWorkspace(directory: string) {
  for (const file of FILES) await cp(path.join(ROOT, file), path.join(directory, file));
  await mkdir(path.join(directory, 'node_modules/node/bin'), { recursive: true });
  await symlink(process.execPath, path.join(directory, 'node_modules/node/bin/node'));
  await writeFile(path.join(directory, 'program.mjs'), 'console.log("ran")');
  await mkdir(path.join(directory, 'bin'));
  await writeFile(path.join(directory, 'bin/npx'), `#!/bin/sh\necho "$@" >> ${directory}/installs\n`, {
    mode: 0o755,
  });
  const env = { PATH: `${path.join(directory, 'bin')}:${process.env['PATH']}` };
  return {
    run: () => {
      const args = [path.join(directory, 'packages/toolchain/run.mjs'), 'program.mjs'];
      const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
      expect(stdout).toBe('ran\n');
    },
    installs: async () =>
      (await readFile(path.join(directory, 'installs'), 'utf8')).trim().split('\n').length,
  };
}

test('dependencies are installed once, and again when what is to be installed has changed', async () => {
  await using directory = await temporaryDirectory();
  const { run, installs } = await copyWorkspace(directory.path);
  run();
  run();
  expect(await installs()).toBe(1);
  for (const [index, file] of DECIDING.entries()) {
    await appendFile(directory.file(file), '# changed\n');
    run();
    expect(await installs()).toBe(index + 2);
  }
});

test('a file that is only newer, and a script that is added, install nothing', async () => {
  await using directory = await temporaryDirectory();
  const { run, installs } = await copyWorkspace(directory.path);
  run();
  const later = new Date(Date.now() + 60_000);
  for (const file of FILES) await utimes(directory.file(file), later, later);
  await appendFile(directory.file('package.json'), '\n');
  run();
  expect(await installs()).toBe(1);
});
