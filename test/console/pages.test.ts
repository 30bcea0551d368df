import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { switchOn } from '@floodgate/mail/actions';
import { reserveBatch } from '@floodgate/registrations';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';
import { commitBatch } from '../harness/committed-batch.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to keep a picture of every page. */
const PICTURES = process.env['CONSOLE_PICTURES'];

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the pages in a browser', () => {
  let page: BrowserPage;
  let gala: Fixture;
  let waitedFor: number;
  let owner: Awaited<ReturnType<typeof given.addOperator>>;

  test.beforeAll(async () => {
    gala = await createFixture(given.database.db);
    await gala.addTicket();
    await commitBatch(given.database.db, gala);
    await switchOn(given.database.db, gala, false);
    waitedFor = await gala.addTicket({ capacity: 1, offerHours: 24 });
    await reserveBatch(given.database.db, randomUUID(), [reservationOf(gala, waitedFor)]);
    const contact = { fullName: 'Ada Waits', emailAddress: 'ada@example.com' };
    await joinWaitingList(given.database.db, gala, { organizedEventTicketID: waitedFor, contact }, null, 0);
    owner = await given.addOperator('owner');
    page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
  });
  afterAll(() => page.close());

  const evaluate = <Value>(expression: string) => page.evaluate<Value>(expression);

  async function open(at: string): Promise<void> {
    const before = page.events('Page.loadEventFired').length;
    await page.send('Page.navigate', { url: `${given.consoleUrl}${at}` });
    await waitUntil('the page is loaded', () => page.events('Page.loadEventFired').length > before);
  }

  /** Presses a key, as a person without a mouse does. */
  async function press(key: string): Promise<void> {
    const codes: Record<string, number> = { Tab: 9, Enter: 13 };
    const event = {
      key,
      code: key,
      windowsVirtualKeyCode: codes[key],
      ...(key === 'Enter' && { text: '\r' }),
    };
    await page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  const focused = () =>
    evaluate<string>('document.activeElement.id || document.activeElement.textContent.trim()');

  async function tabTo(target: string): Promise<void> {
    for (let count = 0; count < 60; count++) {
      if ((await focused()) === target) return;
      await press('Tab');
    }
    throw new Error(`no way to ${target} by the keyboard; the focus is on ${await focused()}`);
  }

  /** Returns the rules of accessibility that the page breaks, with what breaks them. */
  async function violations(): Promise<string[]> {
    await evaluate(AXE);
    return evaluate<string[]>(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')))`);
  }

  /** Keeps a picture of the page, if that is wanted. */
  async function picture(title: string): Promise<void> {
    if (!PICTURES) return;
    const { data } = await page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    await writeFile(path.join(PICTURES, `${title}.png`), String(data), 'base64');
  }

  test('sign-in and a change of a ticket need no mouse', async () => {
    await open('/sign-in');
    await tabTo('name');
    await page.send('Input.insertText', { text: owner.name });
    await press('Tab');
    await page.send('Input.insertText', { text: owner.password });
    await press('Enter');
    await waitUntil('the events are shown', () => evaluate<boolean>("document.title.startsWith('Events')"));
    await tabTo('Gala');
    await press('Enter');
    await waitUntil('the event is shown', () => evaluate<boolean>("document.title.startsWith('Gala')"));
    await tabTo('Stop sale');
    await press('Enter');
    await waitUntil('the form is shown', () =>
      evaluate<boolean>("document.querySelector('form.fields') !== null"),
    );
    await tabTo(await evaluate<string>("document.querySelector('form.fields p button').textContent.trim()"));
    await press('Enter');
    await waitUntil('the event is shown again', () => evaluate<boolean>("document.title.startsWith('Gala')"));
    expect(await evaluate<string>('document.body.innerText')).toContain('Resume sale');
  });

  test('a limited operator sees what its role allows in the menu, and changes its password without a mouse', async () => {
    const limited = await given.addOperator(null, { [gala.eventId]: 'door-manager' });
    const [name, value] = limited.cookie.split('=');
    await page.send('Network.setCookie', { url: given.consoleUrl, name, value });
    await open('/');
    const menu = await evaluate<string[]>(
      `[...document.querySelectorAll('header nav a')].map((one) => one.textContent.trim())`,
    );
    expect(menu).toEqual(['Events', 'People']);
    await tabTo(limited.name);
    await press('Enter');
    await waitUntil('the account is shown', () =>
      evaluate<boolean>("document.title.startsWith('Your account')"),
    );
    expect(await violations()).toEqual([]);
    const send = async (newPassword: string) => {
      await tabTo('oldPassword');
      await page.send('Input.insertText', { text: limited.password });
      await tabTo('newPassword');
      await page.send('Input.insertText', { text: newPassword });
      await press('Enter');
    };
    await send('short');
    await waitUntil('the rule is marked', () =>
      evaluate<boolean>("document.querySelector('#newPassword')?.ariaInvalid === 'true'"),
    );
    expect(await violations()).toEqual([]);
    await send('a horse in a stable');
    await waitUntil('the change is shown', () =>
      evaluate<boolean>("document.querySelector('[role=status]')?.innerText.includes('is changed') ?? false"),
    );
    await picture('account-changed');
    await page.send('Network.setCookie', { url: given.consoleUrl, name, value: owner.session });
  });
});
