import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ConsoleConfig, startConsole } from '@floodgate/console';
import { createSignIn, resetPasswordAction } from '@floodgate/operators';
import { perform } from '@floodgate/audit';
import { loadConfig } from '@floodgate/service';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { keptLog } from '../harness/kept-log.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { underTest } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = consoleTest();

/** Could be a password, so it is compared with the hash. */
const GUESS = 'a'.repeat(19);
/** Cannot be one. */
const NO_PASSWORD = 'wrong';

const signIn = (name: string, password: string, headers: Record<string, string> = {}) =>
  given.request('/sign-in', { method: 'POST', body: new URLSearchParams({ name, password }), headers });

const cookiesOf = (answer: Response) => answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!);

test('the right password opens a session', async () => {
  const { name, password } = await given.addOperator('viewer');
  const answer = await signIn(name, password);
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^floodgate_session=fgo_\S+; Path=\/; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(/^floodgate_device=\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/),
  ]);
  const cookie = cookiesOf(answer)[0]!;
  const page = await given.request('/', { headers: { cookie } });
  expect(await page.text()).toContain(name);
  const out = await given.request('/sign-out', { method: 'POST', headers: { cookie } });
  expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
  expect((await given.request('/', { headers: { cookie } })).status).toBe(303);
});

test('over TLS, a browser takes the cookies from this host only', async () => {
  const env = { DATABASE_URL: given.database.url, CONSOLE_PORT: '0', CONSOLE_URL: 'https://console.example' };
  await using other = await startConsole(
    loadConfig(ConsoleConfig, underTest('console', env)),
    keptLog('console').log,
  );
  const { name, password, session } = await given.addOperator('viewer');
  const answer = await fetch(`${other.baseUrl}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ name, password }),
    headers: { 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
  });
  for (const cookie of answer.headers.getSetCookie())
    expect(cookie).toMatch(/^__Host-floodgate_(session|device)=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure/);
  const show = async (cookie: string) =>
    (await fetch(other.baseUrl, { headers: { cookie }, redirect: 'manual' })).status;
  expect(await show(cookiesOf(answer)[0]!)).toBe(200);
  // Another host of the domain could have set it.
  expect(await show(`floodgate_session=${session}`)).toBe(303);
});

test.for([GUESS, NO_PASSWORD])('a wrong name and the wrong password %s are answered alike', async (wrong) => {
  const { name } = await given.addOperator('viewer');
  const [known, unknown] = [await signIn(name, wrong), await signIn('nobody', wrong)];
  expect([known.status, unknown.status]).toEqual([401, 401]);
  expect((await known.text()).replace(name, 'nobody')).toBe(await unknown.text());
});

/** Takes no time. All operators of tests have the same password. */
const compare = (password: string, hash: string | null) =>
  Promise.resolve(hash !== null && password !== GUESS);
const createQuickSignIn = (clock = new ManualClock()) => createSignIn(given.database.db, clock, compare);

/** Refused without a check: the answer takes its time. */
async function isRefusedAtOnce(clock: ManualClock, answer: Promise<unknown>) {
  await waitUntil('the answer waits', () => clock.pending > 0);
  await clock.advance(300);
  return (await answer) === undefined;
}

const attempt = (name: string, password: string, address = '192.0.2.1', device?: string) => ({
  name,
  password,
  address,
  device,
  isWanted: () => true,
});

test('five wrong passwords from an address lock it out of this name, and one is forgotten each minute', async () => {
  const [clock, { id, name, password }] = [new ManualClock(), await given.addOperator('viewer')];
  const check = createQuickSignIn(clock);
  const opens = async (...of: Parameters<typeof attempt>) => (await check(attempt(...of)))?.operatorId === id;
  const isRefused = (text: string) => isRefusedAtOnce(clock, check(attempt(name, text)));
  for (let count = 0; count < 5; count += 1) expect(await opens(name, GUESS)).toBe(false);
  expect(await isRefused(password)).toBe(true);
  expect(await opens(name, password, '192.0.2.2')).toBe(true);
  // A text that cannot be a password is no guess.
  expect(await isRefused(NO_PASSWORD)).toBe(true);
  await clock.advance(60_000);
  expect(await opens(name, password)).toBe(true);
  expect(await opens(name, password)).toBe(true);
});

test('an IPv6 network is one address', async () => {
  const { name, password } = await given.addOperator('viewer');
  const clock = new ManualClock();
  const check = createQuickSignIn(clock);
  for (let count = 1; count <= 5; count += 1) await check(attempt(name, GUESS, `2001:db8::${count}`));
  expect(await isRefusedAtOnce(clock, check(attempt(name, password, '2001:db8:0:0:ffff::1')))).toBe(true);
  expect(await check(attempt(name, password, '2001:db8:0:1::1'))).toBeDefined();
});

test('strangers do not lock a browser out that has signed in before', async () => {
  const { id, name, password } = await given.addOperator('viewer');
  const other = await given.addOperator('viewer');
  const clock = new ManualClock();
  const check = createQuickSignIn(clock);
  const isRefused = (...of: Parameters<typeof attempt>) => isRefusedAtOnce(clock, check(attempt(...of)));
  const { device } = (await check(attempt(name, password)))!;
  for (let count = 0; count < 5; count += 1) await check(attempt(name, GUESS));
  expect(await isRefused(name, password)).toBe(true);
  expect(await check(attempt(name, password, '192.0.2.1', device))).toEqual({ operatorId: id, device });
  // It is known for one operator, until the password changes, and has five attempts itself.
  const forged = device.replace(/^\d+/, String(other.id));
  for (let count = 0; count < 5; count += 1) await check(attempt(other.name, GUESS, '192.0.2.3'));
  for (const text of [forged, device])
    expect(await isRefused(other.name, other.password, '192.0.2.3', text)).toBe(true);
  for (let count = 0; count < 5; count += 1) await check(attempt(name, GUESS, '192.0.2.4', device));
  expect(await isRefused(name, password, '192.0.2.4', device)).toBe(true);
  const fresh = await perform(given.database.db, resetPasswordAction, { name }, 'test');
  expect(await isRefused(name, fresh.password, '192.0.2.1', device)).toBe(true);
  expect(await check(attempt(name, fresh.password, '192.0.2.5', device))).not.toMatchObject({ device });
});

test('strangers are served in rotation, by address and then by name', async () => {
  const check = createSignIn(given.database.db, undefined, async (...asked) => {
    await yieldToEventLoop();
    return compare(...asked);
  });
  const served: string[] = [];
  const ask = (address: string, name: string) =>
    check(attempt(name, GUESS, address)).then(() => served.push(`${address} ${name}`));
  // The first is served at once. The others wait.
  await Promise.all([
    ...['a', 'a', 'a', 'a', 'b'].map((name) => ask('192.0.2.1', name)),
    ask('192.0.2.2', 'c'),
  ]);
  expect(served.slice(0, 4).toSorted()).toEqual(['192.0.2.1 a', '192.0.2.1 a', '192.0.2.1 b', '192.0.2.2 c']);
});

test('the more passwords of an address were wrong, the later it learns that the next one is', async () => {
  const { id, name, password } = await given.addOperator('viewer');
  const clock = new ManualClock();
  const check = createQuickSignIn(clock);
  let answered = 0;
  const guess = (index: number) => check(attempt(`nobody ${index}`, GUESS)).then(() => (answered += 1));
  for (let index = 1; index <= 5; index += 1) await guess(index);
  for (let index = 6; index <= 8; index += 1) void guess(index);
  await waitUntil('three answers wait', () => clock.pending === 3);
  await clock.advance(999);
  expect(answered).toBe(5);
  await clock.advance(1);
  expect(answered).toBe(6);
  // The right password does not wait, and neither does another address.
  expect(await check(attempt(name, password))).toMatchObject({ operatorId: id });
  expect(await check(attempt('nobody', GUESS, '192.0.2.2'))).toBeUndefined();
  await clock.advance(2_000);
  expect(answered).toBe(8);
  // The last two of these would wait for 11 and 12 seconds.
  for (let index = 9; index <= 17; index += 1) void guess(index);
  await waitUntil('all answers wait', () => clock.pending === 9);
  await clock.advance(9_999);
  expect(answered).toBe(14);
  await clock.advance(1);
  expect(answered).toBe(17);
});

test('while 16 callers without a password try, the right password is accepted', async () => {
  const { name, password } = await given.addOperator('viewer');
  const over = new AbortController();
  const callers = Array.from({ length: 16 }, async (_, index) => {
    while (!over.signal.aborted) await signIn(index % 2 === 0 ? name : `nobody ${index}`, NO_PASSWORD);
  });
  const answer = await signIn(name, password);
  expect(answer.status).toBe(303);
  over.abort();
  await Promise.all(callers);
});

test('a known browser does not wait for 16 strangers who guess', async () => {
  const { name, password } = await given.addOperator('viewer');
  const device = cookiesOf(await signIn(name, password)).find((one) => one.startsWith('floodgate_device='))!;
  let answered = 0;
  const over = new AbortController();
  const strangers = Array.from({ length: 16 }, async (_, index) => {
    const body = new URLSearchParams({ name: `nobody ${index}`, password: GUESS });
    await given.request('/sign-in', { method: 'POST', body, signal: over.signal });
    answered += 1;
  });
  expect((await signIn(name, password, { cookie: device })).status).toBe(303);
  expect(answered).toBeLessThan(8);
  over.abort();
  await Promise.allSettled(strangers);
});

test('a body that does not arrive is ended, and without a sign-in none is read but that of a form', async () => {
  const headers = {
    host: 'console',
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
  };
  const unfinished = await RawConnection.open(given.consoleUrl);
  unfinished.send(requestText('POST /sign-in', { ...headers, 'content-length': '100' }, 'name='));
  const other = await RawConnection.open(given.consoleUrl);
  other.send(requestText('POST /account', { ...headers, 'content-length': '60000' }, 'name='));
  expect((await other.answer()).status).toBe(303);
  const large = await RawConnection.open(given.consoleUrl);
  large.send(requestText('POST /sign-in', { ...headers, 'content-length': '200000' }, 'name='));
  expect((await large.answer()).status).toBe(413);
  await Promise.all([unfinished, other, large].map((connection) => connection.closed()));
});

test.for([
  '//evil.example',
  '/.//evil.example',
  '/\t/evil.example',
  '/\\evil.example',
  'https://evil.example',
])('leads nowhere else after a form: %j', async (back) => {
  const { cookie } = await given.addOperator('owner');
  const { eventId } = await createFixture(given.db);
  const body = new URLSearchParams({ eventId: String(eventId), back });
  const answer = await given.request('/do/eventArchive', { method: 'POST', body, headers: { cookie } });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/?done=eventArchive']);
  const form = await given.request(`/do/eventCreate?${new URLSearchParams({ back }).toString()}`, {
    headers: { cookie },
  });
  expect(await form.text()).not.toContain('evil.example');
});

test('refuses forms of other sites', async () => {
  const { name, password, cookie } = await given.addOperator('owner');
  const site = { 'sec-fetch-site': 'cross-site' };
  expect((await signIn(name, password, site)).status).toBe(403);
  const form = { method: 'POST', body: new URLSearchParams({ name: 'Gala' }) };
  const create = await given.request('/do/eventCreate', { ...form, headers: { cookie, ...site } });
  expect(create.status).toBe(403);
  const noBrowser = { cookie, 'sec-fetch-site': '', origin: 'https://elsewhere.example' };
  expect((await given.request('/do/eventCreate', { ...form, headers: noBrowser })).status).toBe(403);
});
