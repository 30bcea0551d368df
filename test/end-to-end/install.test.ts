import { spawnSync } from 'node:child_process';
import { appendFile, cp, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DECIDING = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'];
const DEV_COMMAND = 'test/program.mjs';
const SERVICE = 'apps/standalone/program.mjs';
const FILES = [
  ...DECIDING,
  'package.json',
  'packages/toolchain/run.mjs',
  'packages/toolchain/small-process.json',
];

/**
 * Copies what run.mjs needs, and puts a program in npx's place that only records its arguments, as if
 * everything were installed already.
 */
async function copyWorkspace(directory: string) {
  for (const file of FILES) await cp(path.join(ROOT, file), path.join(directory, file));
  await mkdir(path.join(directory, 'node_modules/node/bin'), { recursive: true });
  await symlink(process.execPath, path.join(directory, 'node_modules/node/bin/node'));
  for (const file of [DEV_COMMAND, SERVICE]) {
    await mkdir(path.join(directory, path.dirname(file)), { recursive: true });
    await writeFile(path.join(directory, file), 'console.log("ran")');
  }
  await mkdir(path.join(directory, 'bin'));
  await writeFile(path.join(directory, 'bin/npx'), `#!/bin/sh\necho "$@" >> ${directory}/installs\n`, {
    mode: 0o755,
  });
  const env = { PATH: `${path.join(directory, 'bin')}:${process.env['PATH']}` };
  return {
    run: (file = DEV_COMMAND) => {
      const args = [path.join(directory, 'packages/toolchain/run.mjs'), file];
      const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
      expect(stdout).toBe('ran\n');
    },
    /** What each installation was limited to. */
    selections: async () =>
      (await readFile(path.join(directory, 'installs'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => (line.includes('--prod') ? 'services' : 'everything')),
  };
}

test('dependencies are installed once, and again when what is to be installed has changed', async () => {
  await using directory = await temporaryDirectory();
  const { run, selections } = await copyWorkspace(directory.path);
  run();
  run();
  expect(await selections()).toHaveLength(1);
  for (const [index, file] of DECIDING.entries()) {
    await appendFile(directory.file(file), '# changed\n');
    run();
    expect(await selections()).toHaveLength(index + 2);
  }
});

test('a file that is only newer, and a script that is added, install nothing', async () => {
  await using directory = await temporaryDirectory();
  const { run, selections } = await copyWorkspace(directory.path);
  run();
  const later = new Date(Date.now() + 60_000);
  for (const file of FILES) await utimes(directory.file(file), later, later);
  await appendFile(directory.file('package.json'), '\n');
  run();
  expect(await selections()).toHaveLength(1);
});

test('a service installs only what it runs, and a development command the rest, once each and in either order', async () => {
  await using first = await temporaryDirectory();
  const service = await copyWorkspace(first.path);
  for (const file of [SERVICE, SERVICE, DEV_COMMAND, SERVICE, DEV_COMMAND]) service.run(file);
  expect(await service.selections()).toEqual(['services', 'everything']);

  await using second = await temporaryDirectory();
  const command = await copyWorkspace(second.path);
  for (const file of [DEV_COMMAND, SERVICE, DEV_COMMAND]) command.run(file);
  expect(await command.selections()).toEqual(['everything']);
  // A complete installation stays complete.
  await appendFile(second.file('pnpm-lock.yaml'), '# changed\n');
  command.run(SERVICE);
  expect(await command.selections()).toEqual(['everything', 'everything']);
});
