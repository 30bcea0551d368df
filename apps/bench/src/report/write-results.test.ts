import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sampleResults } from './sample-results.test-support.ts';
import { writeResults } from './write-results.ts';

test('results are kept under their time and as the latest, in a directory that need not exist', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'floodgate-report-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const directory = path.join(parent, 'bench-results');
  const results = sampleResults();
  const older = await writeResults(directory, { ...results, startedAt: '2026-11-20T09:15:00.000Z' });
  const newer = await writeResults(directory, results);

  expect((await readdir(directory)).sort()).toEqual([
    '2026-11-20T09-15-00.000Z.html',
    '2026-11-20T09-15-00.000Z.json',
    '2026-11-21T09-15-00.000Z.html',
    '2026-11-21T09-15-00.000Z.json',
    'latest.html',
    'latest.json',
  ]);
  expect(older.json).not.toBe(newer.json);
  expect(JSON.parse(await readFile(newer.latestJson, 'utf8'))).toEqual(results);
  expect(await readFile(newer.latestHtml, 'utf8')).toBe(await readFile(newer.html, 'utf8'));
});
