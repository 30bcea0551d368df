import { existsSync, globSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

// A test beside the code has the name of the file that it tests, so either is found from the other.

const ROOT = path.resolve(import.meta.dirname, '../..');
const EXTENSIONS = ['ts', 'tsx', 'mjs'];

const tests = globSync('{apps,packages}/*/src/**/*.test.{ts,tsx,mjs}', { cwd: ROOT });

/** Also true for a test of the timing tier beside its file: X.timing.test.ts tests X.ts. */
function hasItsFile(file: string): boolean {
  const name = file.replace(/(?:\.timing|\.evidence)?\.test\.[a-z]+$/, '');
  return EXTENSIONS.some((extension) => existsSync(path.join(ROOT, `${name}.${extension}`)));
}

test('a test beside the code has the name of a file in its folder', () => {
  expect(tests.length).toBeGreaterThan(50);
  expect(tests.filter((file) => !hasItsFile(file))).toEqual([]);
});
