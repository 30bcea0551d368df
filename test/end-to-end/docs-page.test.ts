import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

let database: TestDatabase;
let api: InProcessApi;
let profile: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startInProcessApi({ DATABASE_URL: database.url });
  profile = await mkdtemp(path.join(tmpdir(), 'floodgate-browser-'));
});

afterAll(async () => {
  await api.close();
  await database.drop();
  await rm(profile, { recursive: true, force: true });
});

/** The page as a person would see it: its document after the scripts have run. */
async function render(url: string): Promise<string> {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const { stdout } = await promisify(execFile)(
    browser!,
    [...flags, ...quiet, `--user-data-dir=${profile}`, '--virtual-time-budget=10000', '--dump-dom', url],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout;
}

test.skipIf(!browser && !process.env['CI'])(
  'a real browser shows the operations and response codes at /docs, from assets of our own (skipped without Chromium)',
  async () => {
    const page = await render(`${api.baseUrl}/docs`);
    for (const text of ['Register For Event', 'Get Tickets', 'Get Registration', 'The ticket', 'OAS']) {
      expect(page).toContain(text);
    }
    const origins = [...page.matchAll(/(?:src|href)="(https?:\/\/[^/"]+)/g)].map(([, origin]) => origin);
    expect(origins.filter((origin) => origin !== api.baseUrl)).toEqual([]);
  },
);
