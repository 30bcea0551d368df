import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { perform } from '@floodgate/audit';
import { ConsoleConfig, startConsole } from '@floodgate/console';
import { createOperatorAction, updateOperatorAction } from '@floodgate/operators';
import { loadConfig } from '@floodgate/service';
import { Provider, type Configuration } from 'oidc-provider';
import { afterAll, describe, expect } from 'vitest';
import { BrowserPage, chromium } from '../harness/browser.ts';
import { databaseTest } from '../harness/database-test.ts';
import { findFreePort } from '../harness/free-port.ts';
import { keptLog } from '../harness/kept-log.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { underTest } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'lists all operators' });

const SECRET = 'a secret of the console that only the test knows';
const ADDRESS = 'ada@operators.floodgate-tests.org';

/** People at the identity provider, by their name there. */
const PEOPLE: Record<string, { email: string; email_verified: boolean }> = {
  ada: { email: ADDRESS.toUpperCase(), email_verified: true },
  unverified: { email: ADDRESS, email_verified: false },
  stranger: { email: 'stranger@operators.floodgate-tests.org', email_verified: true },
};

/** Starts a real provider with its own login page. */
async function startProvider(port: number, consoleUrl: string): Promise<Server> {
  const configuration: Configuration = {
    clients: [
      { client_id: 'console', client_secret: SECRET, redirect_uris: [`${consoleUrl}/sign-in/callback`] },
    ],
    claims: { email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...PEOPLE[id]! }) }),
    cookies: { keys: ['a key of the test'] },
    pkce: { required: () => true },
  };
  const provider = new Provider(`http://127.0.0.1:${port}`, configuration);
  const server = createServer((request, response) => void provider.callback()(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

// In a real browser, which decides about cookies; skipped without Chromium, but in CI.
describe.skipIf(!chromium && !process.env['CI'])('the sign-in at an identity provider', () => {
  let page: BrowserPage;
  let consoleUrl: string;
  let ports: { console: number; provider: number };
  let provider: Server;
  let stop: () => Promise<void>;

  test.beforeAll(async () => {
    keepPrivate([SECRET, ADDRESS]);
    ports = { console: await findFreePort(), provider: await findFreePort() };
    consoleUrl = `http://127.0.0.1:${ports.console}`;
    provider = await startProvider(ports.provider, consoleUrl);
    const env = underTest('console', {
      DATABASE_URL: given.database.url,
      CONSOLE_PORT: String(ports.console),
      CONSOLE_URL: consoleUrl,
      OIDC_ISSUER: `http://127.0.0.1:${ports.provider}`,
      OIDC_CLIENT_ID: 'console',
      OIDC_CLIENT_SECRET: SECRET,
    });
    const { log, assertNothingPrivate } = keptLog('console');
    const started = await startConsole(loadConfig(ConsoleConfig, env), log);
    stop = async () => {
      await started.disposeAsync();
      assertNothingPrivate();
    };
    page = await BrowserPage.open();
    for (const domain of ['Page', 'Network', 'Runtime']) await page.send(`${domain}.enable`);
    await perform(
      given.database.db,
      createOperatorAction,
      { name: 'Ada', role: 'operator', email: ADDRESS },
      'test',
    );
  });
  afterAll(async () => {
    await page.close();
    await stop();
    provider.close();
    provider.closeAllConnections();
  });

  const shows = (text: string) =>
    waitUntil(`the page shows ${text}`, () =>
      page
        .evaluate<boolean>(
          `document.readyState === 'complete' && document.body.innerText.includes(${JSON.stringify(text)})`,
        )
        .catch(() => false),
    );

  async function start(): Promise<void> {
    await page.send('Network.clearBrowserCookies');
    await page.send('Page.navigate', { url: `${consoleUrl}/sign-in` });
    await shows('Sign in at');
    await page.evaluate(`document.querySelector('a[href="/sign-in/provider"]').click()`);
  }

  /** Signs in at the provider's own page and agrees. */
  async function signInAs(person: string): Promise<void> {
    await start();
    await waitUntil('the provider asks', () =>
      page.evaluate<boolean>(`document.querySelector('[name=login]') !== null`).catch(() => false),
    );
    await page.evaluate(`
      document.querySelector('[name=login]').value = '${person}';
      document.querySelector('[name=password]').value = 'any';
      document.querySelector('form').submit()`);
    await shows('Authorize');
    await page.evaluate(`document.querySelector('form').submit()`);
  }

  test('an operator with the verified address is signed in, with the role that it has here', async () => {
    await signInAs('ada');
    await shows('Ada (operator)');
    expect(await page.evaluate<string>('location.pathname')).toBe('/');
  });

  test.for(['unverified', 'stranger'])('nobody else is signed in: %s', async (person) => {
    await signInAs(person);
    await shows('An owner can add it to an operator.');
    const { cookies } = await page.send('Network.getCookies', { urls: [consoleUrl] });
    expect((cookies as { name: string }[]).map(({ name }) => name)).not.toContain('floodgate_session');
  });

  test('a disabled operator is not signed in', async () => {
    const change = (disabled: boolean) =>
      perform(given.database.db, updateOperatorAction, { name: 'Ada', disabled }, 'test');
    await change(true);
    await signInAs('ada');
    await shows('An owner can add it to an operator.');
    await change(false);
  });

  test.for([
    ['no cookie', '', 'state=a&code=b'],
    ['another state', 'floodgate_sign_in=mine.nonce.verifier', 'state=theirs&code=b'],
    ['a code that the provider never issued', 'floodgate_sign_in=mine.nonce.verifier', 'state=mine&code=b'],
    ['the refusal of a person', 'floodgate_sign_in=mine.nonce.verifier', 'state=mine&error=access_denied'],
  ] as const)('a callback with %s is refused', async ([, cookie, query]) => {
    const issuer = encodeURIComponent(`http://127.0.0.1:${ports.provider}`);
    const answer = await fetch(`${consoleUrl}/sign-in/callback?${query}&iss=${issuer}`, {
      headers: { cookie },
      redirect: 'manual',
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('set-cookie')).not.toContain('floodgate_session');
  });

  test('while the provider is away, the console says so, and passwords work', async () => {
    provider.close();
    provider.closeAllConnections();
    await once(provider, 'close');
    // Another console has not read the provider's configuration yet.
    const env = underTest('console', {
      DATABASE_URL: given.database.url,
      CONSOLE_PORT: '0',
      CONSOLE_URL: consoleUrl,
      OIDC_ISSUER: `http://127.0.0.1:${ports.provider}`,
      OIDC_CLIENT_ID: 'console',
      OIDC_CLIENT_SECRET: SECRET,
    });
    await using other = await startConsole(loadConfig(ConsoleConfig, env), keptLog('console').log);
    const answer = await fetch(`${other.baseUrl}/sign-in/provider`, { redirect: 'manual' });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('with a password')]);
    provider = await startProvider(ports.provider, consoleUrl);
    const again = await fetch(`${other.baseUrl}/sign-in/provider`, { redirect: 'manual' });
    expect(again.status).toBe(303);
  });
});

test('with an identity provider, the other settings are required', () => {
  const env = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    OIDC_ISSUER: 'https://id.example.com',
  };
  const config = loadConfig(ConsoleConfig, env);
  const { log } = keptLog('console');
  return expect(startConsole(config, log)).rejects.toThrow(
    'with OIDC_ISSUER, set OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, CONSOLE_URL',
  );
});
