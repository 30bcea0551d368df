import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BenchResults } from './results.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { redisServerCommand } from '@floodgate/test/servers/redis.ts';

const BENCH = fileURLToPath(new URL('main.ts', import.meta.url));
const SHORT = ['--only', 'Get Tickets', '--pairs', '1', '--seconds', '1'];
const missing = redisServerCommand() || process.env['CI'] ? '' : ', skipped: no redis-server on the PATH';

describe.skipIf(missing !== '')(`npm run bench${missing}`, () => {
  let directory: string;
  beforeEach(async () => void (directory = await mkdtemp(path.join(tmpdir(), 'floodgate-bench-test-'))));
  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('measures pairs, prints a table and writes JSON and a page', async () => {
    const args = [BENCH, ...SHORT, '--out', directory];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment() });
    expect(stdout).toContain('### Get Tickets');
    const results = JSON.parse(await readFile(path.join(directory, 'latest.json'), 'utf8')) as BenchResults;
    expect(results.runs.map(({ contender, discarded }) => [contender, discarded])).toEqual([
      ['floodgate', undefined],
      ['empty-route', undefined],
    ]);
    for (const run of results.runs) expect(run.accepted).toBeGreaterThan(0);
    expect(results.comparisons).toMatchObject([{ contender: 'empty-route', pairs: 1 }]);
    expect(results.targets).toMatchObject([{ name: 'Get Tickets, rate ÷ empty route' }]);
    expect(await readFile(path.join(directory, 'latest.html'), 'utf8')).toContain('<svg');
    // The servers have stopped and their data is deleted.
    expect((await readdir(directory)).filter((name) => name.startsWith('floodgate-bench-'))).toEqual([]);
  });

  test('stops in order when it is told to', async () => {
    const child = spawn(process.execPath, [BENCH, ...SHORT, '--out', directory], { env: environment() });
    let output = '';
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    const exited = once(child, 'exit');
    await waitUntil('it measures', () => output.includes('floodgate, Get Tickets'));
    child.kill('SIGTERM');
    expect(await exited).toEqual([130, null]);
    expect(output).toContain('stopped by SIGTERM');
    expect(await readdir(directory)).toEqual([]);
  });

  test.each([
    [['--pairs', '0'], '--pairs takes a whole number from 1, not 0'],
    [['--only', 'nothing'], 'nothing of the plan matches'],
    [['--nonsense'], '--nonsense'],
    [['--soak', '--quick'], '--quick does not go with --soak'],
    [['--overload', '--pairs', '1'], '--pairs does not go with --overload'],
    [['--quick', '--rate', '100'], '--rate does not go with --quick'],
  ])('refuses %s', async (args, message) => {
    const refused = await promisify(execFile)(process.execPath, [BENCH, ...args]).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) as string });
  });

  /** Directs temporary files to the directory that the test checks. */
  const environment = () => ({ ...process.env, TMPDIR: directory });
});
