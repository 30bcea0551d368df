import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

// Prettier wraps code at 110 characters, but neither comments, texts nor SQL.

const ROOT = path.resolve(import.meta.dirname, '../..');
const LONGEST = 120;

const SOURCES = ['{apps,packages}/*/{src,browser,sql}/**/*.{ts,js,sql}', 'packages/toolchain/*.mjs'];

const EXCEPT = [
  // Released migrations are never edited.
  /^packages\/database\/sql\/tables\//,
  // Generated from the contract.
  /^packages\/client\/src\/(?:contract|rules)\.ts$/,
  /\.test\.ts$/,
];

test('no line of code, SQL or comments is longer than 120 characters', () => {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter(
    (file) => !EXCEPT.some((pattern) => pattern.test(file)),
  );
  expect(files.length).toBeGreaterThan(350);
  const long = files.flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (line.length > LONGEST ? [`${file}:${index + 1}`] : [])),
  );
  expect(long).toEqual([]);
});
