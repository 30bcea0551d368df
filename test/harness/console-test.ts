import { ConsoleConfig, startConsole } from '@floodgate/console';
import type { Role, Scope } from '@floodgate/operators';
import { loadConfig } from '@floodgate/service';
import { databaseTest, type GivenDatabase } from './database-test.ts';
import { keptLog } from './kept-log.ts';
import { addOperator, addToken } from './operators.ts';
import { underTest } from './service-roles.ts';

export interface GivenConsole extends GivenDatabase {
  consoleUrl: string;
  /** The routes of all its pages. */
  pages: readonly string[];
  addOperator(role: Role | null, eventRoles?: Record<number, Role>): ReturnType<typeof addOperator>;
  addToken(...scopes: Scope[]): Promise<string>;
  /** Issues a token for these events only. */
  addLimitedToken(eventIds: number[], ...scopes: Scope[]): Promise<string>;
  /** Sends a request to the console, as a browser sends it from one of its pages. Does not follow redirects. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Calls the operator API with a token. */
  call(
    token: string,
    route: string,
    body?: object,
  ): Promise<{ status: number; body: Awaited<ReturnType<Response['json']>> }>;
}

/** Returns the `test` of a file with a console, which shows everything in its database. */
export function consoleTest() {
  const own = 'the console shows everything in the database';
  const { test: withDatabase, given: givenDatabase } = databaseTest({ own });
  const given = givenDatabase as GivenConsole;
  Object.assign(given, callsOf(given));
  const test = withDatabase.extend(
    'console',
    { scope: 'file', auto: true },
    async ({ database: { url } }, { onCleanup }) => {
      const env = underTest('console', { DATABASE_URL: url, CONSOLE_PORT: '0' });
      const { log, assertNothingPrivate } = keptLog('console');
      const started = await startConsole(loadConfig(ConsoleConfig, env), log);
      given.consoleUrl = started.baseUrl;
      given.pages = started.pages;
      onCleanup(async () => {
        await started.disposeAsync();
        assertNothingPrivate();
      });
      return started;
    },
  );
  return { test, given };
}

const callsOf = (given: GivenConsole): Omit<GivenConsole, keyof GivenDatabase | 'consoleUrl' | 'pages'> => ({
  addOperator: (role, eventRoles) => addOperator(given.db, role, eventRoles),
  addToken: (...scopes) => addToken(given.db, scopes),
  addLimitedToken: (eventIds, ...scopes) => addToken(given.db, scopes, eventIds),
  request: (path, { headers, ...init } = {}) =>
    fetch(`${given.consoleUrl}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { 'sec-fetch-site': 'same-origin', ...(headers as Record<string, string>) },
    }),
  async call(token, route, body) {
    const [method, path] = route.split(' ') as [string, string];
    const response = await given.request(`/operator/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  },
});
