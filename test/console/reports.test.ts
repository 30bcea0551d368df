import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { grantEvent } from '@floodgate/events';
import { updateEventAction } from '@floodgate/events/actions';
import { createPartner } from '@floodgate/partners';
import { reserveBatch } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject } from 'vitest';
import { BrowserOperator } from '../harness/browser-operator.ts';
import { chromium } from '../harness/browser.ts';
import { createBusyDoor } from '../harness/busy-door.ts';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { shownPage, textOf } from '../harness/shown-page.ts';

const { test, given } = consoleTest();

const ZONE = 'Europe/Berlin';

/** An event with sales of two partners and two tickets, at times that the test says. */
async function createSales(partnerName = `Acme ${randomUUID()}`) {
  const { db } = given;
  const gala = await createFixture(db);
  const { eventId } = gala;
  await perform(db, updateEventAction, { eventId, currency: 'EUR', timeZone: ZONE }, 'test');
  const other = await createPartner(db, partnerName);
  await grantEvent(db, other.id, eventId);
  const standing = await gala.addTicket({ price: 19.9 });
  const vip = await gala.addTicket({ title: 'VIP <b>', price: 100 });
  /** Sells a seat at a time. `cancelledAt` null: it is not cancelled. */
  const sell = async (
    partnerId: number,
    ticketId: number,
    soldAt: string,
    cancelledAt: string | null = null,
  ) => {
    const reservation = reservationOf({ ...gala, partnerId }, ticketId);
    const [outcome] = await reserveBatch(db, randomUUID(), [reservation]);
    if (outcome?.kind !== 'registered') throw new Error(`the seat is ${outcome?.kind}`);
    await sql`
      update registrations set reserved_at = ${soldAt}, cancelled_at = ${cancelledAt}
      where shard_id = ${gala.shardId} and serial = ${outcome.serial}`.execute(db);
    // The price of a seat is the one that was valid at that time.
    await sql`
      update ticket_prices set valid_from = '2026-01-01T00:00Z'
      where shard_id = ${gala.shardId} and ticket_id = ${ticketId}`.execute(db);
  };
  // The last second of a day in Berlin, and the first one of the next day.
  await sell(gala.partnerId, standing, '2026-10-31T22:59:59Z');
  await sell(gala.partnerId, standing, '2026-10-31T23:00:00Z');
  await sell(gala.partnerId, vip, '2026-11-02T10:00:00Z', '2026-11-05T10:00:00Z');
  await sell(other.id, vip, '2026-11-03T10:00:00Z');
  return { ...gala, standing, vip, other: { id: other.id, name: partnerName } };
}

const show = (at: string, cookie: string) => shownPage(() => given.request(at, { headers: { cookie } }));

/** Returns the address of the link with this name. */
const linkIn = (html: string, name: string) =>
  new RegExp(`<a [^>]*href="([^"]*)"[^>]*>\\s*${name}\\s*<`)
    .exec(html)?.[1]
    ?.replaceAll('&#61;', '=')
    .replaceAll('&#38;', '&');

const download = async (at: string, cookie: string) =>
  (await given.request(at, { headers: { cookie } })).text();

test('the settlement has what each partner owes, and the file has exactly what is shown', async () => {
  const { eventId, other } = await createSales();
  const { cookie } = await given.addOperator('viewer');
  const all = textOf(await show(`/events/${eventId}/reports`, cookie));
  // Two of 19.90 and two of 100, of which one is cancelled.
  expect(all).toContain('€139.80 to settle: sold without cancelled');
  expect(all).toContain(`${other.name} 1 0 €100.00 €0.00 €100.00`);
  expect(all).toContain('Standing €19.90 2 0 €39.80');
  expect(all).toContain('VIP &#60;b&#62; €100.00 1 1 €0.00');
  const november = `/events/${eventId}/reports/settlement?from=2026-11-01&to=2026-11-30`;
  const page = await show(november, cookie);
  expect(textOf(page)).toContain(
    'From Sun, 1 Nov 2026 up to Mon, 30 Nov 2026, days of the zone Europe/Berlin',
  );
  expect(textOf(page)).toContain('Standing €19.90 1 0 €19.90');
  const csv = await download(linkIn(page, 'CSV')!, cookie);
  expect(csv.split('\r\n')[0]).toBe(
    'partnerId,partner,ticketId,ticket,currency,price,sold,cancelled,soldAmount,cancelledAmount,netAmount'
      .split(',')
      .map((name) => `"${name}"`)
      .join(','),
  );
  expect(csv).toMatch(/"Standing","EUR",19\.9,1,0,19\.9,0,19\.9\r\n/);
  const json = JSON.parse(await download(linkIn(page, 'JSON')!, cookie)) as { rows: { sold: number }[] };
  expect(json.rows.map(({ sold }) => sold)).toEqual([1, 1, 1]);
});

test('the invoice of a partner has both parties, the period and the total, in the language of the person', async () => {
  const { eventId, partnerId, other } = await createSales();
  const { cookie, name } = await given.addOperator('owner');
  await sql`update partners set contact_email = 'bills@acme.example' where id = ${other.id}`.execute(
    given.db,
  );
  const november = `/events/${eventId}/reports/settlement?from=2026-11-01&to=2026-11-30`;
  const page = await show(november, cookie);
  const invoices = Array.from(page.matchAll(/href="(\/events\/\d+\/reports\/invoices\/(\d+)[^"]*)"/g));
  expect(new Set(invoices.map(([, , id]) => Number(id)))).toEqual(new Set([partnerId, other.id]));
  const at = `/events/${eventId}/reports/invoices/${other.id}?from=2026-11-01&to=2026-11-30`;
  const lines = (await download(at, cookie)).trim().split('\r\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '"Event","Gala"',
      `"Partner","${other.name}","bills@acme.example"`,
      '"Sold and cancelled","From Sun, 1 Nov 2026 up to Mon, 30 Nov 2026, days of the zone Europe/Berlin"',
      '"Currency","EUR"',
      expect.stringMatching(new RegExp(`^"Made",".*","${name}"$`)),
      '"VIP <b>",100,1,100,0,0,100',
    ]),
  );
  expect(lines.at(-1)).toBe('"Total",,1,100,0,0,100');
  const german = await download(
    `/events/${eventId}/reports/invoices/${partnerId}`,
    `${cookie}; floodgate_language=de`,
  );
  // Two of 19.90, and one of 100 that was cancelled.
  expect(german.trim().split('\r\n').at(-1)).toBe('"Summe";;3;139,8;1;100;39,8');
  const missing = `/events/${eventId}/reports/invoices/2000000001`;
  expect((await given.request(missing, { headers: { cookie } })).status).toBe(404);
});

test('a report of one partner and one ticket has only theirs, as the file has', async () => {
  const { eventId, other, vip, partnerId, standing } = await createSales();
  const { cookie } = await given.addOperator('viewer');
  for (const name of ['settlement', 'sales', 'attendance']) {
    const base = `/events/${eventId}/reports/${name}`;
    const ofPartner = await show(`${base}?partnerId=${other.id}`, cookie);
    // The first line of the table is that of the file.
    const csv = (await download(linkIn(ofPartner, 'CSV')!, cookie)).trim().split('\r\n');
    expect([name, csv.length]).toEqual([name, 2]);
    expect(csv[1]).toContain(other.name);
    const none = await show(`${base}?partnerId=${other.id}&ticketId=${standing}`, cookie);
    expect(textOf(none)).toMatch(/Nothing was sold|No seats are sold/);
    const ofTicket = await show(`${base}?partnerId=${partnerId}&ticketId=${vip}`, cookie);
    expect(textOf(ofTicket).split('Lines').at(-1)).not.toContain('Standing');
  }
  const cancelled = `/events/${eventId}/reports/cancellations`;
  expect(textOf(await show(`${cancelled}?partnerId=${other.id}`, cookie))).toContain('Nothing was cancelled');
  const shown = textOf(await show(cancelled, cookie));
  expect(shown).toMatch(/Thu, 5 Nov 2026 VIP &#60;b&#62; partner \w+ €100\.00 1 €100\.00/);
});

test('days are those of the event, and a day is in the period that ends with it', async () => {
  const { eventId } = await createSales();
  const { cookie } = await given.addOperator('viewer');
  const sold = async (query: string) => {
    const page = textOf(await show(`/events/${eventId}/reports/sales?${query}`, cookie));
    return /(\d+) Sold/.exec(page)?.[1] ?? '0';
  };
  expect(await sold('to=2026-10-31')).toBe('1');
  expect(await sold('from=2026-11-01&to=2026-11-01')).toBe('1');
  expect(await sold('from=2026-11-02')).toBe('2');
  expect(await sold('by=hour')).toBe('4');
  for (const wrong of [
    'from=2026-13-01',
    'to=yesterday',
    'from=9999-12-31',
    'from=2026-11-02&to=2026-11-01',
  ]) {
    const page = textOf(await show(`/events/${eventId}/reports/sales?${wrong}`, cookie));
    expect(page).toContain('The report is about the whole time.');
  }
});

test('a partner that may not sell the event any more can still be chosen and invoiced', async () => {
  const { eventId, other } = await createSales();
  await sql`delete from event_grants where event_id = ${eventId} and partner_id = ${other.id}`.execute(
    given.db,
  );
  const { cookie } = await given.addOperator('viewer');
  const page = await show(`/events/${eventId}/reports/settlement`, cookie);
  expect(page).toMatch(new RegExp(`<option value="${other.id}" *>${other.name}</option>`));
  expect(page).toContain(`CSV of ${other.name}`);
});

test('who came and who did not, when, and through which gate', async () => {
  const { eventId } = await createBusyDoor(given.database);
  const { cookie } = await given.addOperator('door-manager');
  const attendance = textOf(await show(`/events/${eventId}/reports/attendance`, cookie));
  expect(attendance).toContain('Check-in over time');
  expect(attendance).toMatch(/Standing partner \w+ 2 1 1/);
  const admissions = textOf(await show(`/events/${eventId}/reports/admissions`, cookie));
  // One pass was let in twice: a second admission, and no new person.
  expect(admissions).toContain('2 let in; a person who comes back counts again');
  expect(admissions).toContain('1 for the first time');
  expect(admissions).toMatch(/Main entrance Standing/);
});

test('while a report is being computed, its page says so and other pages are shown', async () => {
  const { eventId } = await createSales();
  const { cookie } = await given.addOperator('viewer');
  const at = `/events/${eventId}/reports/sales`;
  const request = () => given.request(at, { headers: { cookie } });
  await given.db.transaction().execute(async (transaction) => {
    // No report can read the table until this ends. The head of the page does not need it.
    await sql`lock table ticket_prices in access exclusive mode`.execute(transaction);
    const [first, again] = [await request(), await request()];
    for (const answer of [first, again]) {
      expect(answer.headers.get('refresh')).toBe('1');
      const text = textOf(await answer.text());
      expect(text).toContain('The report is being computed from the sales of the event (4 seats)');
      expect(text).toContain('All partners');
    }
    const other = await given.request(`/events/${eventId}/door`, { headers: { cookie } });
    expect(other.status).toBe(200);
    // Both wait for one read.
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer from pg_locks
      where relation = 'ticket_prices'::regclass and not granted`.execute(transaction);
    expect(rows[0]!.count).toBe(1);
  });
  expect(textOf(await show(at, cookie))).toContain('4 Sold');
});

test('reports are in German, with amounts as German spreadsheets read them', async () => {
  const { eventId } = await createSales();
  const { cookie } = await given.addOperator('viewer');
  const german = `${cookie}; floodgate_language=de`;
  const page = await show(`/events/${eventId}/reports/settlement`, german);
  expect(textOf(page).replaceAll('\u00A0', ' ')).toContain('139,80 €');
  const file = await download(linkIn(page, 'Für Tabellenkalkulationen')!, german);
  expect(file).toMatch(/"Standing";"EUR";19,9;2;0;/);
});

test('nobody sees reports without the right, and an unknown event has none', async () => {
  const { eventId } = await createFixture(given.db);
  const headers = { authorization: `Bearer ${await given.addToken('events:read')}` };
  const { cookie } = await given.addOperator('viewer');
  for (const name of ['', '/settlement', '/sales', '/attendance', '/admissions', '/cancellations']) {
    expect((await given.request(`/events/${eventId}/reports${name}`, { headers })).status).toBe(403);
    expect((await given.request(`/events/999999/reports${name}`, { headers: { cookie } })).status).toBe(404);
  }
});

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('in a browser', () => {
  let operator: BrowserOperator;

  test.beforeAll(async () => {
    operator = await BrowserOperator.open(given.consoleUrl, (await given.addOperator('owner')).session);
  });
  afterAll(async () => {
    await operator.close();
  });

  test('the button prints, and without scripts there is none', async () => {
    const { eventId } = await createSales();
    await operator.visit(`/events/${eventId}/reports/sales`);
    await operator.evaluate('globalThis.print = () => (globalThis.isPrinted = true)');
    await operator.press('Print');
    expect(await operator.evaluate<boolean>('globalThis.isPrinted')).toBe(true);
    const disable = (value: boolean) => operator.page.send('Emulation.setScriptExecutionDisabled', { value });
    await disable(true);
    await operator.visit(`/events/${eventId}/reports/sales`);
    const text = await operator.text();
    await disable(false);
    expect(text).toContain('Seats sold, by ticket');
    expect(text).not.toContain('Print');
  });

  const looks = [
    [1280, 'light', 'en'],
    [390, 'dark', 'de'],
    [1280, 'dark', 'de'],
    [390, 'light', 'en'],
  ] as const;
  test.for(inject('tier') === 'gate' ? looks.slice(0, 2) : looks)(
    'every report is accessible at %i pixels, %s, %s, with many tickets and long names',
    async ([width, scheme, language]) => {
      const { eventId } = await createManySales();
      const door = await createBusyDoor(given.database);
      await operator.resize(width, scheme);
      await operator.setCookie('floodgate_language', language);
      const pages = {
        settlement: `/events/${eventId}/reports/settlement`,
        'settlement-november': `/events/${eventId}/reports/settlement?from=2026-11-01&to=2026-11-30`,
        sales: `/events/${eventId}/reports/sales`,
        hours: `/events/${eventId}/reports/sales?by=hour&from=2026-11-01&to=2026-11-02`,
        cancellations: `/events/${eventId}/reports/cancellations`,
        attendance: `/events/${door.eventId}/reports/attendance`,
        admissions: `/events/${door.eventId}/reports/admissions`,
        nothing: `/events/${door.eventId}/reports/cancellations?from=2026-01-01&to=2026-01-02`,
      };
      const found: Record<string, string[]> = {};
      for (const [title, at] of Object.entries(pages)) {
        await operator.visit(at);
        const broken = await operator.violations();
        if (broken.length > 0) found[title] = broken;
        await operator.picture(`report-${title}-${width}-${scheme}-${language}`);
      }
      expect(found).toEqual({});
      expect(operator.refusedByPolicy()).toEqual([]);
      // A sheet of paper is narrower than the screen, and has a table nevertheless.
      await operator.visit(pages.settlement);
      await operator.resize(720, scheme, 'print');
      await operator.picture(`report-printed-${scheme}-${language}`);
      expect(
        await operator.evaluate<string>("getComputedStyle(document.querySelector('tbody tr')).display"),
      ).toBe('table-row');
      expect(
        await operator.evaluate<string>("getComputedStyle(document.querySelector('.filter')).display"),
      ).toBe('none');
      await operator.resize(width, scheme);
    },
  );

  /** Sales of 40 tickets by three partners over weeks, with names that are long, marked up, and right to left. */
  async function createManySales() {
    const sales = await createSales(`<i>Kartenbüro</i> שלום ${randomUUID()} ${'lang '.repeat(30)}`.trim());
    const { eventId, shardId, partnerId, other } = sales;
    for (let number = 1; number <= 40; number++)
      await sales.addTicket({
        title: `Block ${number} ${'sehr '.repeat(number % 7)}`.trim(),
        price: number * 10,
      });
    await sql`update ticket_prices set valid_from = '2026-01-01T00:00Z' where shard_id = ${shardId}`.execute(
      given.db,
    );
    await sql`
      insert into registrations (batch_id, position, reserved_at, cancelled_at, pass_code, shard_id, partner_id, event_id,
        ticket_id, full_name, email_address)
      select (select batch_id from registrations where event_id = ${eventId} limit 1), n % 30000,
        '2026-11-01T00:00Z'::timestamptz + n * interval '37 minutes',
        case when n % 9 = 0 then '2026-11-20T00:00Z'::timestamptz + n * interval '11 minutes' end,
        1000000000 + n, ${shardId}, case when n % 3 = 0 then ${other.id}::integer else ${partnerId} end, ${eventId},
        t.id, 'Someone', 'someone@example.com'
      from generate_series(100, 2000) n
      join (select id, row_number() over (order by id) as nth from tickets where event_id = ${eventId}) t
        on t.nth = 1 + (n * n) % 42`.execute(given.db);
    return sales;
  }
});
