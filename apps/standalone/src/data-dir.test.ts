import { stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openDataDir } from './data-dir.ts';
import { temporaryDirectory } from '../../../test/harness/temporary-directory.ts';

test('a data directory is created, locked and released', async () => {
  await using directory = await temporaryDirectory();
  const dataDir = await openDataDir(directory.file('a/b'));
  expect(dataDir.wasAbandoned).toBe(false);
  await stat(directory.file('a/b/lock.sqlite'));
  await dataDir[Symbol.asyncDispose]();
  await expect(stat(directory.file('a/b/lock.sqlite'))).rejects.toThrow('ENOENT');
});

test('a directory that a live process has locked is refused with the process id', async () => {
  await using directory = await temporaryDirectory();
  await using _dataDir = await openDataDir(directory.path);
  await expect(openDataDir(directory.path)).rejects.toThrow(
    `in use by another Floodgate (process ${process.pid})`,
  );
});

test.each([
  ['a process that has ended', 2 ** 22 + 1],
  ['another process that reused the id', process.ppid],
  ['the same process id, in an earlier container', process.pid],
  ['nobody, after a power failure', 0],
])('the lock of %s is acquired', async (_name, pid) => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.file('lock.sqlite'), '');
  const left = new DatabaseSync(directory.file('lock.sqlite'));
  left.exec(`pragma user_version = ${pid}`);
  left.close();
  await using dataDir = await openDataDir(directory.path);
  expect(dataDir.wasAbandoned).toBe(true);
});

test('a directory that cannot be created is refused in one line', async () => {
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
