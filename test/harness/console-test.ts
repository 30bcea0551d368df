import { ConsoleConfig, startConsole } from '@floodgate/console';
import { perform } from '@floodgate/audit';
import {
  createOperatorAction,
  createTokenAction,
  openSession,
  type Role,
  type Scope,
} from '@floodgate/operators';
import { loadConfig } from '@floodgate/service';
import { database, test as databaseTest } from './database-test.ts';
import { keptLog } from './kept-log.ts';
import { keepPrivate } from './private-data.ts';
import { underTest } from './service-roles.ts';

export { database, db } from './database-test.ts';

/** The console of the running test's file. */
export let consoleUrl: string;

/** A test that has a console. */
export const test = databaseTest.extend(
  'console',
  { scope: 'file', auto: true },
  async ({ database: { url } }, { onCleanup }) => {
    const env = underTest('console', { DATABASE_URL: url, CONSOLE_PORT: '0' });
    const { log, assertNothingPrivate } = keptLog('console');
    const started = await startConsole(loadConfig(ConsoleConfig, env), log);
    consoleUrl = started.baseUrl;
    onCleanup(async () => {
      await started.disposeAsync();
      assertNothingPrivate();
    });
    return started;
  },
);

let count = 0;

/** Adds an operator. Returns the name, the password, and the cookie of an open session. */
export async function addOperator(role: Role) {
  const name = `${role} ${++count}`;
  const { id, password } = await perform(database.db, createOperatorAction, { name, role }, 'test');
  const session = await openSession(database.db, id);
  keepPrivate([password, session]);
  return { id, name, password, session, cookie: `floodgate_session=${session}` };
}

/** Issues a token with these scopes. */
export async function addToken(...scopes: Scope[]): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { token } = await perform(
    database.db,
    createTokenAction,
    { name: `token ${++count}`, scopes, expiresAt },
    'test',
  );
  keepPrivate([token]);
  return token;
}

/** Sends a request to the console, as a browser sends it from one of its pages. Does not follow redirects. */
export const request = (path: string, { headers, ...init }: RequestInit = {}) =>
  fetch(`${consoleUrl}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { 'sec-fetch-site': 'same-origin', ...(headers as Record<string, string>) },
  });

/** Calls the operator API with a token. */
export async function call(token: string, route: string, body?: object) {
  const [method, path] = route.split(' ') as [string, string];
  const response = await request(`/operator/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}
