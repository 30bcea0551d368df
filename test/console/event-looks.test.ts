import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { grantOperatorAction } from '@floodgate/operators';
import { reserveBatch } from '@floodgate/registrations';
import { allocateTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, inject } from 'vitest';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { sell } from '../harness/sold.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';

const { test, given } = consoleTest();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Set it to keep a picture of every page. */
const PICTURES = process.env['CONSOLE_PICTURES'];

const LONG = `Ein sehr langer Name ${'Donaudampfschifffahrtsgesellschaft'.repeat(6)}`.slice(0, 255);
/** Five, or five thousand? */
const AMBIGUOUS = { en: '5.000', de: '5,000' } as const;
const RIGHT_TO_LEFT = 'مهرجان الصيف <b>في كولونيا</b>';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the pages of events in a browser', () => {
  let page: BrowserPage;
  let owner: Awaited<ReturnType<typeof given.addOperator>>;
  let fest: Fixture;
  let ticket: number;
  let waitedFor: number;

  test.beforeAll(async () => {
    const { db } = given;
    fest = await createFixture(db);
    const { eventId, partnerId } = fest;
    const zone = { timeZone: 'Europe/Berlin', currency: 'EUR' };
    const place = {
      name: 'Sommerfest Köln',
      venue: 'Tanzbrunnen Köln',
      startsAt: inDays(7),
      endsAt: inDays(7.5),
    };
    await perform(db, updateEventAction, { eventId, ...place, ...zone, cancelUntil: inDays(5) }, 'Ada');
    ticket = await fest.addTicket({
      title: 'Stehplatz',
      price: 49.9,
      capacity: 1_500,
      saleStartsAt: inDays(-3),
    });
    waitedFor = await fest.addTicket({ title: 'VIP', price: 199, capacity: 3, offerHours: 24 });
    const late = await fest.addTicket({ title: LONG, price: 79, capacity: 500, saleStartsAt: inDays(2) });
    await sell(db, fest, ticket, 905);
    await sell(db, fest, waitedFor, 3);
    await sql`
      update registrations set reserved_at = now() - 20 * (serial % 70) * interval '1 minute'
      where event_id = ${eventId}`.execute(db);
    await reserveBatch(db, randomUUID(), [reservationOf(fest, ticket, { holdSeconds: 600 })]);
    const contact = { fullName: 'Ada Waits', emailAddress: 'ada@example.com' };
    await joinWaitingList(db, fest, { organizedEventTicketID: waitedFor, contact }, null, 0);
    await perform(db, updateTicketAction, { ticketId: ticket, price: 4.99 }, 'Ada');
    await perform(db, allocateTicketAction, { ticketId: late, partnerId, reserved: 30, cap: 60 }, 'Ada');
    await sql`
      insert into deliveries (shard_id, event_id, kind, subject, state, sent_at, reason)
      select ${fest.shardId}, ${eventId}, 'confirmation', n::text, case when n < 8 then 'undeliverable' else 'sent' end,
        case when n < 8 then null else now() end, case when n < 8 then 'refused' end
      from generate_series(1, 20) n`.execute(db);
    await perform(db, updateEventAction, { eventId, startsAt: inDays(7.1) }, 'Ada');
    for (const [name, settings] of [
      [LONG, { venue: LONG, startsAt: inDays(30) }],
      [RIGHT_TO_LEFT, { venue: 'قاعة', startsAt: inDays(40) }],
      ['Jazz im Keller', { startsAt: inDays(50) }],
    ] as const) {
      const other = await createFixture(db);
      await other.addTicket({ capacity: 80, saleStartsAt: inDays(0.1) });
      await perform(db, updateEventAction, { eventId: other.eventId, name, ...settings, ...zone }, 'Ada');
      if (name === 'Jazz im Keller')
        await sql`delete from event_grants where event_id = ${other.eventId}`.execute(db);
    }
    owner = await given.addOperator('owner');
    const door = await given.addOperator(null);
    await perform(db, grantOperatorAction, { name: door.name, eventId, role: 'door-manager' }, 'Ada');
    page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
  });
  afterAll(() => page.close());

  async function open(at: string): Promise<void> {
    const before = page.events('Page.loadEventFired').length;
    await page.send('Page.navigate', { url: `${given.consoleUrl}${at}` });
    await waitUntil('the page is loaded', () => page.events('Page.loadEventFired').length > before);
  }

  async function problems(): Promise<string[]> {
    await page.evaluate(AXE);
    const rules = await page.evaluate<string[]>(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' ')))`);
    const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    return [...rules, ...(isWide ? ['wider than the screen'] : [])];
  }

  async function picture(title: string): Promise<void> {
    if (!PICTURES) return;
    const { data } = await page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    await writeFile(path.join(PICTURES, `${title}.png`), String(data), 'base64');
  }

  const pages = (): Record<string, string> => ({
    events: '/',
    event: `/events/${fest.eventId}`,
    made: `/events/${fest.eventId}?made=true`,
    tickets: `/events/${fest.eventId}/tickets`,
    ticket: `/events/${fest.eventId}/tickets/${ticket}`,
    waiting: `/tickets/${waitedFor}/waiting-list`,
    partners: `/events/${fest.eventId}/partners`,
    settings: `/events/${fest.eventId}/settings`,
    new: '/events/new',
  });

  const looks = [
    [1280, 'light', 'en'],
    [390, 'dark', 'de'],
    [390, 'light', 'en'],
    [1280, 'dark', 'de'],
  ] as const;
  // Both widths, schemes and languages. The evidence tier has more of them.
  test.for(inject('tier') === 'gate' ? looks.slice(0, 2) : looks)(
    'are accessible and keep to the screen at %i pixels, %s, in %s',
    async ([width, scheme, language]) => {
      const size = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
      await page.send('Emulation.setDeviceMetricsOverride', size);
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await page.send('Emulation.setEmulatedMedia', { features });
      const url = given.consoleUrl;
      await page.send('Network.setCookie', { url, name: 'floodgate_session', value: owner.session });
      await page.send('Network.setCookie', { url, name: 'floodgate_language', value: language });
      const found: Record<string, string[]> = {};
      for (const [title, at] of Object.entries(pages())) {
        await open(at);
        const broken = await problems();
        if (broken.length > 0) found[title] = broken;
        await picture(`${title}-${width}-${scheme}-${language}`);
      }
      await open('/events/new');
      const before = page.events('Page.loadEventFired').length;
      await page.evaluate(`(() => {
        document.getElementById('name').value = 'Wrong';
        document.getElementById('t1.title').value = 'Standing';
        document.getElementById('t1.capacity').value = '${AMBIGUOUS[language]}';
        document.querySelector('form.wide button.primary').click();
      })()`);
      await waitUntil('the errors are shown', () => page.events('Page.loadEventFired').length > before);
      expect(await page.evaluate<string>(`document.querySelector('[aria-invalid]').id`)).toBe('t1.capacity');
      const broken = await problems();
      if (broken.length > 0) found['new with errors'] = broken;
      await picture(`errors-${width}-${scheme}-${language}`);
      expect(found).toEqual({});
      const refused = page
        .events<{ entry: { text: string } }>('Log.entryAdded')
        .map(({ entry }) => entry.text);
      expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    },
  );
});
