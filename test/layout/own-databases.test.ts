import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

// Files share a database unless they say why they need their own (test/harness/database-test.ts).

const ROOT = path.resolve(import.meta.dirname, '../..');

/** They work on everything in a shard, so they also treat and count the rows of other files. */
const OF_WHOLE_SHARD = /\b(?:expireHolds|finalizePending|finalize_batches)\(/;
const MAY_SHARE = /\b(?:api|event|database|workers)Test\(/;
const SAYS_WHY_NOT = /\bown\b\s*[:,}]/;

test('a file that finalizes or ends the holds of a whole shard has a database of its own', () => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] });
  const working = files.filter((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8');
    return OF_WHOLE_SHARD.test(text) && MAY_SHARE.test(text) && !SAYS_WHY_NOT.test(text);
  });
  expect(files.length).toBeGreaterThan(100);
  expect(working).toEqual([]);
});
