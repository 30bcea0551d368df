import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { switchOn } from '@floodgate/mail/actions';
import { sql } from 'kysely';
import { afterAll, describe, expect, inject } from 'vitest';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { createBusyDoor } from '../harness/busy-door.ts';
import { englishIn, englishTexts, SHOWN_TEXTS } from '../harness/console-language.ts';
import { consoleTest } from '../harness/console-test.ts';
import { addressesOf, formsOf, readOperations, type Examples } from '../harness/console-walk.ts';
import { formsIn } from '../harness/html-forms.ts';
import { createThings, type ThingsOfEvent } from '../harness/things-of-event.ts';
import { waitUntil } from '../harness/wait-until.ts';

// A walk over every page and every form of the console. The routes of the console are the list, so a new page is
// walked over by itself. A new parameter of an address needs an example (examplesOf).

const { test, given } = consoleTest();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** A folder for a picture of every page. */
const PICTURES = process.env['CONSOLE_PICTURES'];
/** Every page and form in every look, which takes minutes. Otherwise each once at both widths. */
const IS_WHOLE = process.env['CONSOLE_WALK'] === 'all' || inject('tier') === 'evidence';
/** The whole walk has more than a thousand looks. */
const TIMEOUT = IS_WHOLE ? { timeout: 3_600_000 } : {};

const MARK = 'marked-by-data';
/** A name of 240 characters with markup, from right to left, and with a word that is wider than a telephone. */
const LONG =
  `<b class="${MARK}">Fête</b> & "مهرجان الموسيقى" ${'Donaudampfschifffahrtsgesellschaft'.repeat(6)}`.slice(
    0,
    240,
  );

/** Words that the examples use as names and reasons, and the name of the house partner. */
const OF_DATA = new Set(['test', 'tests', 'House']);

/** Addresses that belong to another site, or answer with no page. */
const ELSEWHERE = ['/sign-in/provider', '/sign-in/callback'];

const pagesOf = (examples: Examples) =>
  addressesOf(
    given.pages.filter((route) => !ELSEWHERE.includes(route)),
    examples,
  );

const formsWith = async (examples: Examples) => formsOf(await readOperations(given.consoleUrl), examples);

/** Returns an example for each parameter of pages and fields of forms. */
async function examplesOf(things: ThingsOfEvent): Promise<Examples> {
  const { db } = given.database;
  const { eventId, partnerId } = things;
  const operator = await given.addOperator('viewer', { [eventId]: 'door-manager' });
  await given.addLimitedToken([eventId], 'events:read', 'tickets:write');
  const { rows } = await sql<{ keyId: string; accessId: string }>`
    select (select key_id from secret_keys where partner_id = ${partnerId} limit 1) as "keyId",
      (select id from operator_access order by created_at desc limit 1) as "accessId"`.execute(db);
  const address = randomUUID().replaceAll('-', '').repeat(2);
  await sql`
    insert into mail_suppressions (digest, reason, event_id)
    values (${address}, '550 5.1.1', ${eventId})`.execute(db);
  await sql`
    insert into webhook_attempts (shard_id, endpoint_id, id, message_id, after_offset, last_offset, entries, at,
      took_ms, outcome, http_status, error)
    select shard_id, id, gen_random_uuid(), 'msg_1', 0, 1, 1, now(), 15000, 'failed', null, 'TIMEOUT'
    from webhook_endpoints where id = ${things.webhookId}::uuid`.execute(db);
  return {
    ...things,
    ...rows[0]!,
    name: operator.name,
    address,
    batchIds: things.batchId,
    gates: things.gateId,
  };
}

/** Gives everything with a name a long one. */
async function nameLong({ eventId, partnerId }: ThingsOfEvent) {
  const { db } = given.database;
  await sql`update events set name = ${LONG}, venue = ${LONG} where id = ${eventId}`.execute(db);
  await sql`update partners set name = ${LONG} where id = ${partnerId}`.execute(db);
  await sql`update tickets set title = ${LONG} where event_id = ${eventId}`.execute(db);
  await sql`update gates set name = ${LONG} where event_id = ${eventId}`.execute(db);
  await sql`update devices set name = ${LONG} where event_id = ${eventId}`.execute(db);
  await sql`update registrations set full_name = ${LONG} where event_id = ${eventId}`.execute(db);
}

/** Resolves to the text of a page. Undefined: it is a stream, a file, or what a page shows in a frame. */
async function read(at: string, cookie: string) {
  const abort = new AbortController();
  const answer = await given.request(at, { headers: { cookie }, signal: abort.signal });
  const isFrame = answer.headers.get('content-security-policy')?.includes('sandbox') ?? false;
  const isPage = !isFrame && (answer.headers.get('content-type')?.startsWith('text/html') ?? false);
  if (!isPage && answer.status === 200) {
    abort.abort();
    return undefined;
  }
  const text = await answer.text();
  expect([at, answer.status, answer.status === 200 ? '' : text]).toEqual([at, 200, '']);
  return text;
}

/** Returns the addresses of help that a page has. */
const helpIn = (text: string) => Array.from(text.matchAll(/href="(\/help[^"]*)"/g), ([, href]) => href!);

test('every page and form leads to help that exists, with its anchor', async () => {
  const { cookie } = await given.addOperator('owner');
  const examples = await examplesOf(await createThings(given.database));
  const links = new Map<string, string>();
  const addresses = [...pagesOf(examples), ...(await formsWith(examples))];
  for (const at of addresses) {
    const text = await read(at, cookie);
    if (text === undefined) continue;
    const targets = helpIn(text);
    if (at !== '/help') expect([at, targets.length]).not.toEqual([at, 0]);
    for (const target of targets) links.set(target, at);
  }
  const found: Record<string, string> = {};
  const texts = new Map<string, string>();
  // Pages of help lead to others, which are added meanwhile.
  for (const [href, from] of links) {
    const [address = '', anchor] = href.split('#');
    const isNew = !texts.has(address);
    const text = texts.get(address) ?? (await (await given.request(address, { headers: { cookie } })).text());
    texts.set(address, text);
    if (isNew) for (const target of helpIn(text)) if (!links.has(target)) links.set(target, address);
    const isThere = text.includes(anchor === undefined ? '<article' : ` id="${anchor}"`);
    if (!isThere && address !== '/help') found[href] = from;
  }
  expect(found).toEqual({});
  expect(links.size).toBeGreaterThan(10);
});

/** Fields that say what a form is about: the form that follows a refusal names it in a sentence. */
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  '/do/ticketAllocate': ['partnerId', 'ticketId'],
};

test('a form within a page asks for its fields again if it is refused', async () => {
  const { cookie } = await given.addOperator('owner');
  const examples = await examplesOf(await createThings(given.database));
  const seen = new Set<string>();
  const lost: string[] = [];
  for (const at of pagesOf(examples)) {
    for (const { action, fields } of formsIn((await read(at, cookie)) ?? '')) {
      if (!action.startsWith('/do/')) continue;
      const names = new Set(fields.map(({ name }) => name));
      const visible = fields.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
      if (visible.length > 0) seen.add(action);
      const about = SUBJECTS[action] ?? [];
      lost.push(
        ...visible
          .filter((name) => !about.includes(name) && !names.has(`asked.${name}`))
          .map((name) => `${at}: ${action} ${name}`),
      );
    }
  }
  expect(lost).toEqual([]);
  expect([...seen]).toEqual(expect.arrayContaining(['/do/ticketAllocate', '/do/operatorGrant']));
});

/** What the browser got as a page or as the content of a frame. */
interface DocumentAnswer {
  type: string;
  frameId: string;
  response: { headers: Record<string, string> };
}

const IS_COMPLETE = "document.readyState === 'complete'";

/** How a page is looked at. */
interface Look {
  width: 1280 | 390;
  scheme: 'light' | 'dark';
}

const LOOKS: readonly Look[] = (['light', 'dark'] as const).flatMap((scheme) => [
  { width: 1280, scheme },
  { width: 390, scheme },
]);
/** Both widths and both schemes. */
const FEW_LOOKS: readonly Look[] = [LOOKS[0]!, LOOKS[3]!];

// In a real browser; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('in a browser', () => {
  let page: BrowserPage;
  let session: string;
  let plain: Examples;
  let long: Examples;
  let doors: string[];

  test.beforeAll(async () => {
    const { db } = given.database;
    const [things, other] = [await createThings(given.database), await createThings(given.database)];
    [plain, long] = [await examplesOf(things), await examplesOf(other)];
    await nameLong(other);
    for (const { eventId } of [things, other]) await switchOn(db, { eventId, shardId: 0 }, false);
    const door = await createBusyDoor(given.database);
    const { eventId, gate: gateId, deviceId, pass: passReference } = door;
    doors = pagesOf({ ...plain, eventId, gateId, deviceId, passReference }).filter((at) =>
      at.includes(`/${eventId}/door`),
    );
    ({ session } = await given.addOperator('owner'));
    page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  });
  afterAll(() => page.close());

  const setCookie = (name: string, value: string) =>
    page.send('Network.setCookie', { url: given.consoleUrl, name, value });

  async function open(at: string) {
    const before = page.events('Page.loadEventFired').length;
    const { frameId } = await page.send('Page.navigate', { url: `${given.consoleUrl}${at}` });
    await waitUntil('the page is loaded', () => page.events('Page.loadEventFired').length > before);
    await waitUntil('the page has what it computes', () => !asksAgain(frameId));
    await waitUntil('the last page is complete', () => page.evaluate<boolean>(IS_COMPLETE));
  }

  /** Returns whether the page will load again by itself: while it does, nothing can be looked at. */
  function asksAgain(ofFrame: unknown) {
    const answers = page.events<DocumentAnswer>('Network.responseReceived');
    const last = answers.findLast(({ type, frameId }) => type === 'Document' && frameId === ofFrame);
    return Object.keys(last?.response.headers ?? {}).some((name) => name.toLowerCase() === 'refresh');
  }

  async function lookLike({ width, scheme }: Look) {
    const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
    await page.send('Emulation.setDeviceMetricsOverride', metrics);
    await page.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
  }

  /** Returns what is wrong with the page that is open: rules of accessibility, width, and markup from data. */
  const faults = () =>
    page.evaluate<string[]>(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => [
      ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' ')),
      ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []),
      ...(document.querySelector('.${MARK}') ? ['markup of a name'] : []),
    ])`);

  async function picture(at: string, name: string) {
    if (!PICTURES) return;
    const { data } = await page.send('Page.captureScreenshot', { captureBeyondViewport: true });
    const title = at.replaceAll(/[^\w-]+/g, '_').slice(0, 80) || 'home';
    await writeFile(path.join(PICTURES, `${title}-${name}.png`), String(data), 'base64');
  }

  const isWide = () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');

  /**
   * Walks over pages. Each is looked at in all these looks: the width, and the rules of accessibility, or those in
   * the last look only. Returns what is wrong, by address and look.
   */
  async function walk(
    addresses: readonly string[],
    language: 'en' | 'de',
    looks: readonly Look[],
    { cookies = session, rulesOnce = false } = {},
  ) {
    await setCookie('floodgate_session', cookies);
    await setCookie('floodgate_language', language);
    // Nothing but live figures needs a script.
    await page.send('Network.setBlockedURLs', { urls: ['*/assets/console.js'] });
    const found: Record<string, string[]> = {};
    for (const at of addresses) {
      await lookLike(looks[0]!);
      await open(at);
      await page.evaluate(AXE);
      for (const look of looks) {
        await lookLike(look);
        const name = `${look.width}-${look.scheme}-${language}`;
        const isLast = look === looks.at(-1);
        const wrong =
          rulesOnce && !isLast ? ((await isWide()) ? ['wider than the screen'] : []) : await faults();
        if (wrong.length > 0) found[`${at} ${name}`] = wrong;
        await picture(at, name);
      }
    }
    return found;
  }

  /** Returns the addresses that answer with a page. */
  async function shown(addresses: readonly string[]) {
    const cookie = `floodgate_session=${session}`;
    const texts = await Promise.all(
      addresses.map(async (at) => ((await read(at, cookie)) === undefined ? [] : [at])),
    );
    return texts.flat();
  }

  test('every page is accessible and fits, wide and narrow, light and dark', TIMEOUT, async () => {
    const addresses = [...(await shown([...pagesOf(plain), ...doors])), '/help/operate/runbook', '/nothing'];
    for (const language of IS_WHOLE ? (['en', 'de'] as const) : (['en'] as const))
      expect(await walk(addresses, language, IS_WHOLE ? LOOKS : FEW_LOOKS)).toEqual({});
    expect(await walk(['/sign-in'], 'de', FEW_LOOKS, { cookies: 'nobody' })).toEqual({});
  });

  test('every form is accessible and fits, wide and narrow, light and dark', TIMEOUT, async () => {
    const addresses = await formsWith(plain);
    const rulesOnce = !IS_WHOLE;
    for (const language of IS_WHOLE ? (['en', 'de'] as const) : (['en'] as const))
      expect(await walk(addresses, language, IS_WHOLE ? LOOKS : FEW_LOOKS, { rulesOnce })).toEqual({});
  });

  test(
    'names that are long, from right to left or look like markup break no page, in German too',
    TIMEOUT,
    async () => {
      const own = new Set(pagesOf(plain));
      // Lists show them as well.
      const lists = ['/', '/partners', '/deliveries', '/audit', '/access'].filter((at) => own.has(at));
      const ofThings = pagesOf(long).filter((at) => !own.has(at));
      const addresses = await shown([...lists, ...ofThings]);
      expect(await walk(addresses, 'de', IS_WHOLE ? LOOKS : [LOOKS[1]!])).toEqual({});
    },
  );

  test('pages and forms in German have no English words', async () => {
    const operations = await readOperations(given.consoleUrl);
    const texts = englishTexts(
      operations.map(({ summary }) => summary),
      operations.flatMap(({ fields }) => fields),
    );
    await setCookie('floodgate_session', session);
    await setCookie('floodgate_language', 'de');
    await open('/account');
    const found: Record<string, string[]> = {};
    for (const at of [...(await shown([...pagesOf(plain), ...doors])), ...(await formsWith(plain))]) {
      const seen = await page.evaluate<string[]>(`fetch(${JSON.stringify(at)})
        .then((answer) => answer.text())
        .then((text) => (${SHOWN_TEXTS})(new DOMParser().parseFromString(text, 'text/html')))`);
      const english = englishIn(seen, texts).filter((text) => !OF_DATA.has(text));
      if (english.length > 0) found[at] = [...new Set(english)];
    }
    expect(found).toEqual({});
  });

  test('the policy against scripts of others refuses nothing that pages have', () => {
    const logged = page.events<{ entry: { text: string } }>('Log.entryAdded').map(({ entry }) => entry.text);
    expect(logged.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
  });
});
