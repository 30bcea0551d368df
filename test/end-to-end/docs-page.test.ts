import { writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, inject } from 'vitest';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const REGISTER = '#tag/registrations/POST/api/v1/events/register';

// In a real browser, as a reader has it; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the page at /docs', () => {
  let api: InProcessApi;
  let page: BrowserPage;
  let demoFile: Awaited<ReturnType<typeof temporaryDirectory>>;

  test.beforeAll(async () => {
    const gala = await createFixture(given.database.db, 'allow', 'test');
    await gala.addTicket();
    const ticket = await gala.addTicket();
    demoFile = await temporaryDirectory();
    const demo = { secretKey: gala.secretKey, eventRef: gala.eventRef, tickets: [{ id: ticket }] };
    await writeFile(demoFile.file('demo.json'), JSON.stringify(demo));
    api = await startInProcessApi({
      DATABASE_URL: given.database.url,
      DEMO_FILE: demoFile.file('demo.json'),
    });
    page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
  });

  afterAll(async () => {
    await page.close();
    await api.close();
    await demoFile[Symbol.asyncDispose]();
  });

  const text = () => page.evaluate<string>("document.body?.innerText ?? ''");

  /** Opens the page on a screen of this width, by a person who prefers this scheme. */
  async function read(width: number, scheme: 'light' | 'dark'): Promise<void> {
    const screen = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
    await page.send('Emulation.setDeviceMetricsOverride', screen);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await page.send('Emulation.setEmulatedMedia', { features });
    // The browser takes the place in the page along where / leads it. What is out of sight is not drawn yet.
    await page.send('Page.navigate', { url: `${api.baseUrl}/${REGISTER}` });
    await waitUntil('the page is shown', async () => (await text()).includes('jane@example.com'));
  }

  /** Clicks the first button of Register For Event with this text, once it is there. */
  async function click(label: string): Promise<void> {
    const section = `document.querySelector('section[id$="${REGISTER.slice(1)}"]')`;
    const button = `[...(${section}?.querySelectorAll('button') ?? [])].find((one) => one.innerText.includes('${label}'))`;
    await waitUntil(`a button ${label}`, () => page.evaluate<boolean>(`${button} !== undefined`));
    await page.evaluate(`${button}.click()`);
  }

  const looks = [
    [1400, 'light'],
    [390, 'dark'],
    [1400, 'dark'],
    [390, 'light'],
  ] as const;
  // The page takes ten seconds to load.
  test.for(inject('tier') === 'gate' ? looks.slice(0, 2) : looks)(
    'shows the codes and every operation, fits into %i pixels and is %s for readers who prefer that',
    async ([width, scheme]) => {
      await read(width, scheme);
      // On a narrow screen the operations are drawn when they come into sight.
      const operations = width < 600 ? [] : ['Get Tickets', 'Get Registration'];
      for (const part of ['The ticket is sold out', 'emailAddress', ...operations])
        expect(await text()).toContain(part);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      const cellsEnd = `[...document.querySelectorAll('.markdown table :is(th, td)')].map((cell) => cell.getBoundingClientRect().right)`;
      const ends = await page.evaluate<number[]>(cellsEnd);
      expect(ends.length).toBeGreaterThan(40);
      expect(Math.max(...ends)).toBeLessThanOrEqual(width);
      const isDark = await page.evaluate<boolean>(
        `getComputedStyle(document.body).colorScheme === 'dark'
        || document.body.classList.contains('dark-mode')`,
      );
      expect(isDark).toBe(scheme === 'dark');
    },
  );

  test('"Test Request" is filled with an attendee who is clearly an example', async () => {
    await read(1400, 'light');
    await click('Test Request');
    const editor = `document.querySelector('[role=dialog]')?.innerText ?? ''`;
    await waitUntil('the request is shown', async () =>
      (await page.evaluate<string>(editor)).includes('"organizedEventTicketID": 2'),
    );
    const filled = await page.evaluate<string>(editor);
    for (const part of ['Jane Doe', 'jane@example.com']) expect(filled).toContain(part);
  });

  test('"Test Request" registers for good with the demo, without a header that its reader did not add', async () => {
    await read(1400, 'light');
    await click('Test Request');
    const send = `[...document.querySelectorAll('[role=dialog] button')].find((one) => one.innerText.includes('Send'))`;
    await waitUntil('the request can be sent', () => page.evaluate<boolean>(`Boolean(${send})`));
    await page.evaluate(`${send}.click()`);
    const sent = () =>
      page
        .events<{ requestId: string; request: { method: string; headers: object } }>(
          'Network.requestWillBeSent',
        )
        .find(({ request }) => request.method === 'POST');
    await waitUntil('the request is sent', () => sent() !== undefined);
    const { requestId, request } = sent()!;
    const names = Object.keys(request.headers).map((name) => name.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(['x-secret-key', 'x-event-ref']));
    for (const name of ['hold-for', 'idempotency-key']) expect(names).not.toContain(name);
    const isFinished = () =>
      page
        .events<{ requestId: string }>('Network.loadingFinished')
        .some((one) => one.requestId === requestId);
    await waitUntil('it is answered', isFinished);
    const { body } = await page.send('Network.getResponseBody', { requestId });
    expect(JSON.parse(body as string)).toMatchObject({ responseCode: '00' });
  });

  test('has an icon', async () => {
    const icon = await fetch(`${api.baseUrl}/favicon.ico`);
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });

  test('asks nobody but this server, and does nothing that its policy forbids', () => {
    const requests = page.events<{ request: { url: string } }>('Network.requestWillBeSent');
    const foreign = requests.map(({ request }) => request.url).filter((url) => !url.startsWith(api.baseUrl));
    expect(requests.length).toBeGreaterThan(3);
    expect(foreign.filter((url) => !url.startsWith('data:'))).toEqual([]);
    const faults = page.events<{ entry: { level: string; text: string } }>('Log.entryAdded');
    expect(faults.filter(({ entry }) => entry.level === 'error')).toEqual([]);
    expect(page.events('Runtime.exceptionThrown')).toEqual([]);
  });
});
