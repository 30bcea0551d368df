import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openDataDir } from './data-dir.ts';
import { commandLineOf } from '@floodgate/embedded-postgres';
import { temporaryDirectory } from '../../../test/harness/temporary-directory.ts';

test('a data directory is created, locked and released', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = await openDataDir(directory.file('a/b'));
  expect(dataDir.wasAbandoned).toBe(false);
  expect(await readFile(directory.file('a/b/floodgate.lock'), 'utf8')).toContain(String(process.pid));
  await dataDir[Symbol.asyncDispose]();
  await expect(stat(directory.file('a/b/floodgate.lock'))).rejects.toThrow('ENOENT');
});

test('a directory that a living process has locked is refused, naming the process', async () => {
  await using directory = await temporaryDirectory();
  const parent = process.ppid;
  await writeFile(directory.file('floodgate.lock'), `${parent}\n${commandLineOf(parent)}\n`);
  await expect(openDataDir(directory.path)).rejects.toThrow(
    `in use by another Floodgate (process ${parent})`,
  );
});

test.each([
  ['a process that has ended', () => `${2 ** 22 + 1}\nnode main.ts\n`],
  ['a process id that is somebody else now', () => `${process.ppid}\nnode main.ts\n`],
  ['the same process id, in an earlier container', () => `${process.pid}\n${commandLineOf(process.pid)}\n`],
  ['nobody, after a power failure', () => ''],
])('a lock of %s is taken over', async (_name, content) => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.file('floodgate.lock'), content());
  await using dataDir = await openDataDir(directory.path);
  expect(dataDir.wasAbandoned).toBe(true);
});

test('a directory that cannot be made is refused in one line', async () => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.file('file'), '');
  await expect(openDataDir(directory.file('file/below'))).rejects.toThrow(/^DATA_DIR .* cannot be used: .*$/);
});

test.runIf(process.platform === 'linux')(
  'a directory below /proc is refused instead of tried for ever',
  async () => {
    await expect(openDataDir('/proc/floodgate/data')).rejects.toThrow('cannot be used');
  },
);
