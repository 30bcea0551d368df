import { readAuditLog } from '@floodgate/audit';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { keepPrivate } from '../harness/private-data.ts';

const { test, given } = consoleTest();

const CHOSEN = 'correct horse battery';
const GUESS = 'b'.repeat(19);
keepPrivate([CHOSEN]);

type Operator = Awaited<ReturnType<typeof given.addOperator>>;

const signIn = (name: string, password: string, cookie = '') =>
  given.request('/sign-in', {
    method: 'POST',
    body: new URLSearchParams({ name, password }),
    headers: { cookie },
  });

/** Signs in. Returns the cookies of the browser. */
async function openBrowser({ name, password }: Operator, cookie = '') {
  const answer = await signIn(name, password, cookie);
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
}

const change = (cookie: string, oldPassword: string, newPassword: string) =>
  given.request('/account', {
    method: 'POST',
    body: new URLSearchParams({ oldPassword, newPassword }),
    headers: { cookie },
  });

test('an operator changes its password, its other sessions end, and the audit log says so without it', async () => {
  const operator = await given.addOperator('viewer');
  const browser = await openBrowser(operator);
  const answer = await change(browser, operator.password, CHOSEN);
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining('the password is changed'),
  ]);
  const status = async (cookie: string) => (await given.request('/', { headers: { cookie } })).status;
  expect([await status(browser), await status(operator.cookie)]).toEqual([200, 303]);
  expect((await signIn(operator.name, CHOSEN)).status).toBe(303);
  expect((await signIn(operator.name, operator.password)).status).toBe(401);
  const [entry] = await readAuditLog(given.database.db, { subject: `operator:${operator.id}`, limit: 1 });
  expect(entry).toMatchObject({
    actor: operator.name,
    action: 'operator.change-password',
    after: { password: 'changed', endedSessions: 1 },
  });
  expect(JSON.stringify(entry)).not.toContain(CHOSEN);
  // The browser stays known: a stranger who guesses does not delay it.
  const device = answer.headers.getSetCookie().find((one) => one.startsWith('floodgate_device='));
  expect(device).toMatch(/Max-Age=\d+$/);
});

test('a new password is long enough, and neither the name nor the old one', async () => {
  const operator = await given.addOperator('viewer');
  for (const wrong of [
    'eleven char',
    operator.name,
    operator.name.toUpperCase(),
    operator.password,
    'a'.repeat(129),
  ]) {
    const answer = await change(operator.cookie, operator.password, wrong);
    expect([wrong, answer.status]).toEqual([wrong, 422]);
    expect(await answer.text()).toMatch(/newPassword-hint.*12 to 128 characters/s);
  }
  expect((await signIn(operator.name, operator.password)).status).toBe(303);
});

test('wrong old passwords are counted together with those of the sign-in', async () => {
  const operator = await given.addOperator('viewer');
  const browser = await openBrowser(operator);
  for (let count = 0; count < 3; count += 1) {
    const answer = await change(browser, GUESS, CHOSEN);
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining('too many attempts')]);
  }
  for (let count = 0; count < 2; count += 1)
    expect((await signIn(operator.name, GUESS, browser)).status).toBe(401);
  expect((await change(browser, operator.password, CHOSEN)).status).toBe(409);
  expect((await signIn(operator.name, operator.password, browser)).status).toBe(401);
});

test('the operator API changes it for a session, and a token has none', async () => {
  const operator = await given.addOperator('operator');
  const body = { oldPassword: operator.password, newPassword: CHOSEN };
  expect(await given.call(operator.session, 'POST /account/password', body)).toEqual({
    status: 200,
    body: { endedSessions: 0 },
  });
  expect((await signIn(operator.name, CHOSEN)).status).toBe(303);
  const token = await given.addToken('access:write');
  expect(await given.call(token, 'POST /account/password', body)).toMatchObject({ status: 403 });
  const missing = await given.call(operator.session, 'POST /account/password', { newPassword: CHOSEN });
  expect(missing).toMatchObject({ status: 422, body: { invalid: { oldPassword: 'the present password' } } });
});

test('an operator without a password cannot set one', async () => {
  const operator = await given.addOperator('viewer');
  await given.database.db
    .updateTable('operators' as never)
    .set({ password_hash: null } as never)
    .where('id' as never, '=', operator.id as never)
    .execute();
  expect((await change(operator.cookie, GUESS, CHOSEN)).status).toBe(409);
});

test('an operator chooses the language and the time zone of the pages', async () => {
  const { cookie } = await given.addOperator('owner');
  const show = async (cookies: string) =>
    (await given.request('/account', { headers: { cookie: cookies, 'accept-language': 'en' } })).text();
  const page = await show(cookie);
  expect(page).toMatch(/<html lang="en">[^]*data-propose-zone/);
  const answer = await given.request('/preferences', {
    method: 'POST',
    body: new URLSearchParams({ language: 'de', zone: 'Europe/Berlin', back: '/account' }),
    headers: { cookie },
  });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account']);
  const chosen = answer.headers.getSetCookie().map((one) => one.split(';')[0]);
  const german = await show([cookie, ...chosen].join('; '));
  expect(german).toMatch(/<html lang="de">[^]*Ihr Konto[^]*value="Europe\/Berlin"/);
  expect(german).not.toContain('data-propose-zone');
});
