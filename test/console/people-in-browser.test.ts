import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { switchOn } from '@floodgate/mail/actions';
import { indexAttendees } from '@floodgate/registrations/find';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject } from 'vitest';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { sell } from '../harness/sold.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to keep a picture of every page. */
const PICTURES = process.env['CONSOLE_PICTURES'];

const LONG = `${'Maximiliane-Alexandra '.repeat(11)}Ende`;
const PEOPLE = [
  'Anna-Lena Groß',
  'Jörg Wenig',
  LONG,
  'محمد بن عبد الله',
  '<b>Bold</b> & "Quoted"',
  'Bea Wrong',
];

describe.skipIf(!chromium && !process.env['CI'])('people, e-mails and jobs in a browser', () => {
  let page: BrowserPage;
  let gala: Fixture;
  let passes: string[];

  test.beforeAll(async () => {
    const { db } = given.database;
    gala = await createFixture(db);
    const { eventId, shardId } = gala;
    await switchOn(db, gala, false);
    const ticketId = await gala.addTicket({ title: 'Stehplatz', price: 49.9 });
    const serials: number[] = [];
    for (const [index, fullName] of PEOPLE.entries()) {
      const person = { fullName, emailAddress: `guest${index}@example.com`, partnerReference: 'A-4711' };
      serials.push(...(await sell(db, gala, ticketId, 1, person)));
    }
    await sell(db, gala, ticketId, 120);
    await finalizePending(db, shardId);
    await sql`
      update events set name = 'Sommerfest Köln', time_zone = 'Europe/Berlin', currency = 'EUR', venue = 'Tanzbrunnen',
        starts_at = '2026-12-04T10:00:00Z', ends_at = '2026-12-04T22:00:00Z'
      where id = ${eventId}`.execute(db);
    for (const [index, [state, reason]] of [
      ['sent', null],
      ['undeliverable', '550 5.1.1'],
      ['suppressed', 'suppressed'],
      ['retry', '450 4.2.1'],
    ].entries())
      await sql`
        insert into deliveries (shard_id, event_id, kind, subject, state, reason, attempts, tried_at)
        values (${shardId}, ${eventId}, 'confirmation', ${String(serials[index])}, ${state}, ${reason}, 1, now())`.execute(
        db,
      );
    const digest = createHash('sha256').update('guest2@example.com').digest('hex');
    await sql`insert into mail_suppressions (digest, reason, event_id) values (${digest}, '550 5.1.1', ${eventId})`.execute(
      db,
    );
    await waitUntil('the search knows them', async () => {
      await indexAttendees(db, shardId, 10_000);
      const { rows } = await sql`
        select from search_entries where shard_id = ${shardId} and serial = any(${serials}::bigint[])`.execute(
        db,
      );
      return rows.length === serials.length;
    });
    passes = serials.map((serial) => `/people/${encodeURIComponent(`GALA-${eventId}-${serial}-…`)}`);
    const { cookie } = await given.addOperator('owner');
    page = await BrowserPage.open('--accept-lang=en');
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    const [name, value] = cookie.split('=');
    await page.send('Network.setCookie', { url: given.consoleUrl, name, value });
  });
  afterAll(() => page.close());

  const evaluate = <Value>(expression: string) => page.evaluate<Value>(expression);

  async function loaded(act: () => Promise<unknown>) {
    const before = page.events('Page.loadEventFired').length;
    await act();
    await waitUntil('the page is loaded', () => page.events('Page.loadEventFired').length > before);
  }

  const open = (at: string) => loaded(() => page.send('Page.navigate', { url: `${given.consoleUrl}${at}` }));

  /** Presses the link or button with this name. */
  async function press(name: string) {
    const found = `[...document.querySelectorAll('a, button')].find((one) => one.innerText.trim() === ${JSON.stringify(name)})`;
    expect([name, await evaluate<boolean>(`Boolean(${found})`)]).toEqual([name, true]);
    await loaded(() => evaluate(`${found}.click()`));
  }

  async function type(label: string, text: string) {
    await evaluate(`(() => {
      const label = [...document.querySelectorAll('label')].find((one) => one.innerText.trim() === ${JSON.stringify(label)});
      const field = document.querySelector('input[aria-label=${JSON.stringify(label)}]') ?? label.control;
      field.focus();
      field.select();
    })()`);
    await page.send('Input.insertText', { text });
  }

  const shown = () => evaluate<string>('document.body.innerText');

  /** Presses a key, as a person without a mouse does. */
  async function key(name: 'Tab' | 'Enter') {
    const code = { key: name, code: name, windowsVirtualKeyCode: name === 'Tab' ? 9 : 13 };
    const text = name === 'Enter' ? { text: '\r' } : {};
    await page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...code, ...text });
    await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...code });
  }

  /** Goes to a link, a button or a field by the keyboard. */
  async function tabTo(name: string) {
    const focused = `[document.activeElement.innerText?.trim(), document.activeElement.ariaLabel,
      document.activeElement.labels?.[0]?.innerText].includes(${JSON.stringify(name)})`;
    for (let count = 0; count < 80; count++) {
      if (await evaluate<boolean>(focused)) return;
      await key('Tab');
    }
    throw new Error(`no way to ${name} by the keyboard`);
  }

  test('an attendee is found by name, corrected and found again, without a mouse', async () => {
    const find = async (text: string) => {
      await open('/');
      await tabTo('Search');
      await page.send('Input.insertText', { text });
      await loaded(() => key('Enter'));
    };
    await find('wrong');
    await tabTo('Bea Wrong');
    await loaded(() => key('Enter'));
    await tabTo('Correct');
    await loaded(() => key('Enter'));
    await tabTo('Name');
    await page.send('Input.insertText', { text: 'Bea Right' });
    await loaded(() => key('Enter'));
    expect(await shown()).toContain('Done: Correct the name or address');
    await find('bea right');
    expect(await shown()).toContain('Bea Right');
  });

  const PAGES = (): Record<string, string> => ({
    people: '/people',
    found: '/people?q=a-4711',
    nobody: '/people?q=0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
    person: passes[0]!,
    'person-without-pass': passes[2]!,
    'person-markup': passes[4]!,
    attendees: `/events/${gala.eventId}/attendees`,
    filtered: `/events/${gala.eventId}/attendees?mail=none&state=confirmed&count=true`,
    messages: `/events/${gala.eventId}/messages`,
    preview: `/events/${gala.eventId}/messages/preview?kind=event-updated`,
    jobs: '/jobs',
    'form-cancel': `/do/registrationCancel?passReference=${passes[0]!.slice('/people/'.length)}`,
    'form-correct': `/do/registrationCorrect?passReference=${passes[2]!.slice('/people/'.length)}`,
    'form-replace': `/do/registrationReplace?passReference=${passes[0]!.slice('/people/'.length)}`,
    'form-guest': `/do/guestAdd?eventId=${gala.eventId}`,
    'form-guests': `/do/guestImport?eventId=${gala.eventId}`,
    'form-holders': `/do/eventNotifyHolders?eventId=${gala.eventId}`,
    'form-enable': `/do/mailEnable?eventId=${gala.eventId}`,
    'preview-cancel': `/do/jobCancel?eventId=${gala.eventId}&state=confirmed`,
    'preview-resend': `/do/jobResend?eventId=${gala.eventId}`,
    'preview-call-off': `/do/eventCallOff?eventId=${gala.eventId}`,
  });

  const looks = [
    [1280, 'light', 'en'],
    [390, 'dark', 'de'],
    [390, 'light', 'en'],
    [1280, 'dark', 'de'],
  ] as const;

  async function look(
    pages: Record<string, string>,
    [width, scheme, language]: readonly [number, string, string],
  ) {
    const size = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
    await page.send('Emulation.setDeviceMetricsOverride', size);
    await page.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    await page.send('Network.setCookie', {
      url: given.consoleUrl,
      name: 'floodgate_language',
      value: language,
    });
    const found: Record<string, string[]> = {};
    for (const [title, at] of Object.entries(pages)) {
      await open(at);
      await evaluate(AXE);
      const rules = await evaluate<string[]>(`axe.run({ iframes: false }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')))`);
      const isWide = await evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (rules.length > 0 || isWide) found[title] = [...rules, ...(isWide ? ['wider than the screen'] : [])];
      if (!PICTURES) continue;
      const { data } = await page.send('Page.captureScreenshot', { captureBeyondViewport: true });
      await writeFile(
        path.join(PICTURES, `${title}-${width}-${scheme}-${language}.png`),
        String(data),
        'base64',
      );
    }
    return found;
  }

  test.for(inject('tier') === 'gate' && !PICTURES ? looks.slice(0, 2) : looks)(
    'every page is accessible at %i pixels, %s, in %s',
    async (view) => {
      expect(await look(PAGES(), view)).toEqual({});
      const refused = page
        .events<{ entry: { text: string } }>('Log.entryAdded')
        .map(({ entry }) => entry.text);
      expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    },
  );

  test('the page of a job that calls off an event is accessible', async () => {
    await page.send('Network.setCookie', { url: given.consoleUrl, name: 'floodgate_language', value: 'en' });
    await open(`/events/${gala.eventId}/attendees`);
    await press('Call off the event …');
    await type('Type the number 126 to confirm', '126');
    await press('Call off the event');
    expect(await shown()).toContain('0 of 126 registrations cancelled');
    const job = await evaluate<string>('location.pathname + location.search');
    for (const view of PICTURES ? looks : looks.slice(0, 2)) expect(await look({ job }, view)).toEqual({});
  });
});
