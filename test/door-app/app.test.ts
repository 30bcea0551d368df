import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { chromium } from '../harness/browser.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { Scanner } from './scanner.ts';
import { sell } from './sell.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

const MOST_BYTES = 100 * 1_024;

test.override('ticket', { capacity: 1_000 });

/** Resolves to the status and the headers of a file, and to its size as it is sent. `fetch` would decompress it. */
const fileAt = (path: string, headers: Record<string, string> = {}) =>
  new Promise<{ status?: number | undefined; headers: NodeJS.Dict<string | string[]>; bytes: number }>(
    (resolve, reject) => {
      request(new URL(path, given.api.baseUrl), { headers }, (answer) => {
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, bytes }));
      })
        .on('error', reject)
        .end();
    },
  );

/** Returns the paths of all files that the service worker keeps, and of the worker itself. */
async function files(): Promise<string[]> {
  const worker = await (await fetch(`${given.api.baseUrl}/door/service-worker.js`)).text();
  const [, list] = /const FILES = (.*);/.exec(worker)!;
  return [...(JSON.parse(list!) as string[]), '/door/service-worker.js'];
}

test('all files together are at most 100 KB as they are sent', async () => {
  const sizes = await Promise.all((await files()).map(async (path) => (await fileAt(path)).bytes));
  expect(sizes.length).toBeGreaterThan(10);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(MOST_BYTES);
});

test('every file forbids code of other sources, and is sent again only if it has changed', async () => {
  for (const path of await files()) {
    const { status, headers } = await fileAt(path);
    expect(status, path).toBe(200);
    expect(headers, path).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy'], path).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers['content-security-policy'], path).not.toContain('unsafe');
    expect(headers['permissions-policy'], path).toContain('camera=(self)');
    const again = await fileAt(path, { 'if-none-match': String(headers.etag) });
    expect(again, path).toMatchObject({ status: 304, bytes: 0 });
  }
});

test('the icon of home screens is sent byte for byte', async () => {
  const answer = await fetch(`${given.api.baseUrl}/door/icon.png`);
  expect(answer.headers.get('content-type')).toBe('image/png');
  const icon = await readFile(new URL('../../apps/door/browser/icon.png', import.meta.url));
  expect(Buffer.from(await answer.arrayBuffer()).equals(icon)).toBe(true);
});

test('/door leads to /door/', async () => {
  const { status, headers } = await fileAt('/door');
  expect([status, headers.location]).toEqual([302, 'door/']);
});

/** The smallest and the largest in the gate. */
const WIDTHS = inject('tier') === 'gate' ? [320, 1_280] : [320, 390, 1_280];
const SCHEMES = inject('tier') === 'gate' ? (['dark'] as const) : (['light', 'dark'] as const);

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('in a browser', () => {
  let scanner: Scanner;
  beforeAll(async () => {
    scanner = await Scanner.open(given.api.baseUrl);
  });
  afterAll(() => scanner.close());

  test('every view is accessible on narrow and wide screens, light and dark', async () => {
    const gates = [];
    for (const name of ['North', 'South'])
      gates.push(await addGate(given.database.db, given.gala.eventId, { name }));
    const { code } = await addDevice(given.database.db, given.gala.eventId, gates);
    const { pass } = await sell(given);
    const steps: Record<string, () => Promise<void>> = {
      enrol: async () => {
        await scanner.visit();
        await scanner.enter('code', 'wrong');
        await scanner.shows('#notice', 'The code is unknown');
      },
      gates: async () => {
        await scanner.enter('code', code);
        await scanner.shows('#gates', 'South');
      },
      ready: async () => {
        await scanner.click('#gate-list button');
        await scanner.shows('#result', 'Ready to scan');
      },
      admitted: () => scanner.scan(pass, 'Admitted'),
      refused: () => scanner.scan(pass, 'Already admitted'),
      exit: async () => {
        await scanner.click('input[value=out]');
        await scanner.scan(pass, 'Exit');
      },
      'signed-off': async () => {
        await scanner.click('#sign-off');
        await scanner.shows('#device', 'Resume');
      },
    };
    const found: Record<string, string[]> = {};
    for (const [name, step] of Object.entries(steps)) {
      await step();
      for (const width of WIDTHS)
        for (const scheme of SCHEMES) {
          await scanner.resize(width, scheme);
          const violations = await scanner.violations();
          const view = `${name}-${width}-${scheme}`;
          if (violations.length > 0) found[view] = violations;
          await scanner.picture(view);
        }
    }
    expect(found).toEqual({});
    expect(await scanner.refusedByPolicy()).toEqual([]);
  });

  test.for([
    {
      part: 'storage',
      source: 'indexedDB.open = () => { throw new Error("no storage") }',
      text: 'no storage. Reload the page.',
    },
    {
      part: 'a service worker',
      source: 'navigator.serviceWorker.register = () => new Promise(() => {})',
      text: 'Enrol',
    },
  ])('without $part, the scanner shows: $text', async ({ source, text }) => {
    const fresh = await Scanner.open(given.api.baseUrl);
    await fresh.page.send('Page.addScriptToEvaluateOnNewDocument', { source });
    await fresh.visit();
    await fresh.shows('body', text);
    await fresh.close();
  });

  test('a device can be enrolled and used without a mouse', async () => {
    const gate = await addGate(given.database.db, given.gala.eventId);
    const { code } = await addDevice(given.database.db, given.gala.eventId, [gate]);
    const fresh = await Scanner.open(given.api.baseUrl);
    await fresh.visit();
    await fresh.shows('#enrol', 'Enrol');
    await fresh.tabTo('code');
    await fresh.enter('code', code);
    await fresh.shows('#connection', 'Online');
    await fresh.tabTo('pass');
    await fresh.scan((await sell(given)).pass, 'Admitted');
    await fresh.tabTo('undo');
    await fresh.press('Enter', '\r');
    await fresh.shows('#result', 'Undone');
    await fresh.close();
  });
});
