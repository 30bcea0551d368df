import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Results } from './report/results.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';
import { redisServerCommand } from '@floodgate/test/servers/redis.ts';

const BENCH = fileURLToPath(new URL('main.ts', import.meta.url));
const SHORT = ['--only', 'Get Tickets', '--pairs', '1', '--seconds', '1'];
const missing = redisServerCommand() || process.env['CI'] ? '' : ', skipped: no redis-server on the PATH';

describe.skipIf(missing !== '')(`npm run bench${missing}`, () => {
  let directory: string;
  beforeEach(async () => void (directory = await mkdtemp(path.join(tmpdir(), 'floodgate-bench-test-'))));
  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('measures pairs, prints a table and writes JSON, Markdown and a page', async () => {
    const args = [BENCH, ...SHORT, '--out', directory];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment() });
    expect(stdout).toContain('### Get Tickets');
    const files = (await readdir(directory)).toSorted();
    // The servers have stopped and their data is deleted.
    expect(files.map((file) => path.extname(file))).toEqual(['.html', '.json', '.md']);
    const [page, json, markdown] = await Promise.all(
      files.map((file) => readFile(path.join(directory, file), 'utf8')),
    );
    const { figures, discarded } = JSON.parse(json!) as Pick<Results, 'figures' | 'discarded'>;
    expect(discarded).toEqual([]);
    const rates = figures.filter(({ column }) => column === 'per second');
    expect(rates.map(({ row }) => row)).toEqual(['floodgate', 'empty route']);
    for (const { rounds } of rates) expect(rounds[0]).toBeGreaterThan(0);
    expect(figures).toContainEqual(
      expect.objectContaining({ row: 'empty route', column: 'floodgate ÷ it', bound: { atLeast: 0.9 } }),
    );
    expect(page).toContain('<svg');
    expect(stdout).toContain(markdown);
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
    [['--only', 'nothing'], 'nothing matches'],
    [['--nonsense'], '--nonsense'],
  ])('refuses %s', async (args, message) => {
    const refused = await promisify(execFile)(process.execPath, [BENCH, ...args]).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) as string });
  });

  /** Directs temporary files to the directory that the test checks. */
  const environment = () => ({ ...process.env, TMPDIR: directory });
});
