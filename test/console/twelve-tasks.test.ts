import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject } from 'vitest';
import { chromium } from '../harness/browser.ts';
import { consoleTest } from '../harness/console-test.ts';
import { Person, WAYS, type Way } from '../harness/person.ts';
import { createSeason, type Season } from '../harness/season.ts';
import { waitUntil } from '../harness/wait-until.ts';

// What people who run events do most, from the home page, with at most so many activations. Each thing is found
// by its role and its name, as a screen reader says them.

const { test, given } = consoleTest();

/** A folder for a picture of every page. */
const PICTURES = process.env['CONSOLE_PICTURES'];

const TABS = 'Parts of this page';

/** Returns the only row of a statement. */
async function rowOf(statement: ReturnType<typeof sql<Record<string, unknown>>>) {
  const { rows } = await statement.execute(given.db);
  expect(rows).toHaveLength(1);
  return rows[0];
}

const ticketRow = (ticketId: number) =>
  rowOf(sql`select active, capacity, price::float8 as price from tickets where id = ${ticketId}`);

const passMail = (serial: number) =>
  rowOf(sql`select state from deliveries where kind = 'confirmation' and subject = ${String(serial)}`);

/** Returns what the clock in Köln shows a week later than a field. */
const weekLater = (text: string) => Temporal.PlainDateTime.from(text).add({ days: 7 }).toString();

interface Task {
  name: string;
  /** The activations that it may take at most. */
  most: number;
  run: (person: Person, season: Season, way: Way) => Promise<void>;
}

const TASKS: readonly Task[] = [
  {
    name: 'stop the sale of one ticket',
    most: 3,
    run: async (person, { festival }) => {
      await person.follow(festival.name);
      await person.follow('Stop sale: Sitzplatz');
      await person.press('Stop the sale');
      expect(await person.text()).toContain('Done: Stop the sale of a ticket');
      expect(await ticketRow(festival.seated)).toMatchObject({ active: false });
      expect(await ticketRow(festival.standing)).toMatchObject({ active: true });
    },
  },
  {
    name: 'find Groß by surname, and send the pass again',
    most: 4,
    run: async (person, { gross }) => {
      expect(await passMail(gross.serial)).toEqual({ state: 'sent' });
      await person.submit('Search', 'gross');
      await person.follow(gross.name);
      await person.follow('Send the pass again');
      await person.press('Send it now');
      expect(await person.text()).toContain('Done: Send the pass again');
      expect(await passMail(gross.serial)).toEqual({ state: 'queued' });
    },
  },
  {
    name: 'raise a capacity',
    most: 4,
    run: async (person, { festival }) => {
      await person.follow(festival.name);
      await person.follow('VIP');
      await person.follow('Change capacity');
      await person.type('Capacity', '45');
      await person.press('Save');
      expect(await ticketRow(festival.vip)).toMatchObject({ capacity: 45 });
    },
  },
  {
    name: 'see who has no e-mail, correct one address, and send it again',
    most: 6,
    run: async (person, { festival, unreached }, way) => {
      await person.follow(festival.name);
      await person.follow('Who, and why');
      await person.follow(`Correct the address: ${unreached.name}`);
      await person.type('E-mail address', `wenig.${way}@example.com`);
      await person.press('Save');
      await person.follow(`Send again: ${unreached.name}`);
      await person.press('Send it now');
      const { serial } = unreached;
      const address = sql<Record<string, unknown>>`
        select email_address from registrations where event_id = ${festival.eventId} and serial = ${serial}`;
      expect(await rowOf(address)).toEqual({ email_address: `wenig.${way}@example.com` });
      expect(await passMail(serial)).toEqual({ state: 'queued' });
    },
  },
  {
    name: 'let a partner sell the event with an allocation',
    most: 6,
    run: async (person, { festival, newcomer }) => {
      await person.follow(festival.name);
      await person.follow('Partners', TABS);
      await person.choose('Another partner', newcomer.name);
      await person.press('Let it sell');
      await person.choose('Ticket', 'Stehplatz');
      await person.type('Reserved seats', '50');
      await person.press('Reserve seats');
      const shown = (await person.text()).replaceAll(/\s+/g, ' ');
      expect(shown).toContain(`Stehplatz ${newcomer.name} 50`);
      const grants = sql<Record<string, unknown>>`
        select from event_grants where event_id = ${festival.eventId} and partner_id = ${newcomer.id}`;
      await rowOf(grants);
      const allocation = sql<Record<string, unknown>>`
        select ticket_id, reserved, cap from allocations where partner_id = ${newcomer.id}`;
      expect(await rowOf(allocation)).toEqual({ ticket_id: festival.standing, reserved: 50, cap: null });
    },
  },
  {
    name: 'make an event with three tickets on one page',
    most: 4,
    run: async (person, { newcomer }, way) => {
      const name = `Herbstfest (${way})`;
      await person.follow('Add event');
      await person.type('Name of the event', name);
      await person.type('Place', 'Gürzenich');
      await person.setTime(/^Starts/, '2027-10-09T18:00');
      await person.setTime(/^Ends/, '2027-10-09T23:30');
      for (const [index, [title, seats, price]] of [
        ['Stehplatz', '800', '29.90'],
        ['Sitzplatz', '300', '45'],
        ['VIP', '20', '150'],
      ].entries()) {
        const ticket = `Ticket ${index + 1}`;
        await person.type('Name', title!, ticket);
        await person.type('Seats', seats!, ticket);
        await person.type('Price', price!, ticket);
      }
      await person.tick(newcomer.name);
      await person.press('Make the event');
      expect(await person.text()).toContain(`“${name}” is there now.`);
      const made = await rowOf(sql`
        select time_zone, currency, starts_at, string_agg(title, ', ' order by tickets.id) as titles,
          (select count(*)::integer from event_grants where event_id = events.id) as partners
        from events join tickets on event_id = events.id where name = ${name} group by events.id`);
      expect(made).toEqual({
        time_zone: 'Europe/Berlin',
        currency: 'EUR',
        starts_at: new Date('2027-10-09T16:00Z'),
        titles: 'Stehplatz, Sitzplatz, VIP',
        partners: 1,
      });
    },
  },
  {
    name: 'call off an event',
    most: 5,
    run: async (person, { concert }) => {
      await person.follow(concert.name);
      await person.follow('Settings', TABS);
      await person.follow('Call off event');
      await person.type('Type the number 120 to confirm', '120');
      await person.press('Call off the event');
      expect(await person.text()).toContain('0 of 120 registrations cancelled');
      const event = sql<Record<string, unknown>>`
        select called_off_at is not null as over from events where id = ${concert.eventId}`;
      expect(await rowOf(event)).toEqual({ over: true });
      const job = sql<Record<string, unknown>>`
        select kind, total::integer from jobs where event_id = ${concert.eventId}`;
      expect(await rowOf(job)).toMatchObject({ total: 120 });
    },
  },
  {
    name: 'get the invoice of one partner as a file',
    most: 4,
    run: async (person, { festival, seller }) => {
      await person.follow(festival.name);
      await person.follow('Reports', TABS);
      await person.download(`CSV of ${seller.name}`);
      const file = await waitUntil('the file', async () =>
        (await readdir(folder)).find((one) => one.includes(seller.name) && one.endsWith('.csv')),
      );
      const [, ...lines] = (await readFile(path.join(folder, file), 'utf8')).trim().split('\r\n');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`"${seller.name}"`);
      // 42 seats of 49.90.
      expect(lines[0]).toMatch(/"Stehplatz","EUR",49\.9,42,0,2095\.8,0,2095\.8$/);
    },
  },
  {
    name: 'see why a partner was refused',
    most: 3,
    run: async (person, { seller }) => {
      await person.follow('Partners', 'Pages');
      await person.follow(seller.name);
      const text = await person.text();
      expect(text).toMatch(/The e-mail address is registered already.*\s+Code 33/);
      expect(text).toContain('312');
      expect(text).toContain('Nothing, if the rule about duplicates of the event is what you want.');
    },
  },
  {
    name: 'enrol a scanner',
    most: 4,
    run: async (person, { festival }, way) => {
      await person.follow(festival.name);
      await person.follow('Door', TABS);
      await person.follow('Enrol a scanner');
      await person.type('Name', `Scanner of Bo (${way})`);
      await person.press('Make the code');
      const code = /\d+-\d+-\w{5}-\w{5}/.exec(await person.text());
      expect(code).not.toBeNull();
      const device = sql<Record<string, unknown>>`
        select name, cardinality(gates) as gates from devices where event_id = ${festival.eventId}`;
      expect(await rowOf(device)).toEqual({ name: `Scanner of Bo (${way})`, gates: 2 });
    },
  },
  {
    name: 'move the event by a week, and tell the holders',
    most: 6,
    run: async (person, { gala }) => {
      await person.follow(gala.name);
      await person.follow('Settings', TABS);
      await person.follow('Change name, place and time');
      for (const field of [/^Starts/, /^Ends/])
        await person.setTime(field, weekLater(await person.timeOf(field)));
      const before = sql<Record<string, unknown>>`select starts_at from events where id = ${gala.eventId}`;
      const was = (await rowOf(before)) as { starts_at: Date };
      await person.press('Save');
      await person.follow('Tell the 12 holders');
      await person.press('Send to attendees');
      const moved = (await rowOf(before)) as { starts_at: Date };
      // A week of the clock can have an hour more.
      expect(Math.round((+moved.starts_at - +was.starts_at) / 86_400_000)).toBe(7);
      const mails = sql<Record<string, unknown>>`
        select count(*)::integer from deliveries
        where event_id = ${gala.eventId} and kind = 'event-updated' and state = 'queued'`;
      expect(await rowOf(mails)).toEqual({ count: 12 });
      expect(await person.text()).not.toContain('Tell the');
    },
  },
  {
    name: 'undo a wrong price',
    most: 3,
    run: async (person, { festival }) => {
      expect(await ticketRow(festival.vip)).toMatchObject({ price: 19.9 });
      await person.follow(festival.name);
      await person.follow('VIP');
      await person.press('Undo: the price');
      expect(await ticketRow(festival.vip)).toMatchObject({ price: 199 });
    },
  },
];

/** Every task in every way. */
const DOES_ALL = inject('tier') === 'evidence' || PICTURES !== undefined;

/** The files that the browser has got. */
let folder: string;

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('in a browser', () => {
  let person: Person;

  test.beforeAll(async () => {
    person = await Person.at(given.consoleUrl, (await given.addOperator('owner')).cookie);
    folder = await mkdtemp(path.join(tmpdir(), 'floodgate-tasks-'));
    const to = { behavior: 'allow', downloadPath: folder };
    await person.page.send('Browser.setDownloadBehavior', to);
  });
  afterAll(async () => {
    await person.close();
    await rm(folder, { recursive: true, force: true });
  });

  describe.for(WAYS)('with %s', (way) => {
    let season: Season;

    test.beforeAll(async () => {
      season = await createSeason(given.db, way);
      await person.use(way);
    });

    // The gate does each task in one way, and the evidence tier in all three.
    const tasks = TASKS.filter((_, index) => DOES_ALL || WAYS[index % WAYS.length] === way);
    test.for(tasks)('$name, with at most $most activations', async ({ name, most, run }) => {
      await person.goHome(given.consoleUrl, name.replaceAll(/\W+/g, '-'));
      await run(person, season, way);
      const { activations } = person;
      expect(activations).toBeGreaterThan(0);
      expect(activations).toBeLessThanOrEqual(most);
    });
  });
});
