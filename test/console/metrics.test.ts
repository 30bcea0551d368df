import { ConsoleConfig, startConsole } from '@floodgate/console';
import { loadConfig } from '@floodgate/service';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { findFreePort } from '../harness/free-port.ts';
import { keptLog } from '../harness/kept-log.ts';
import { underTest } from '../harness/service-roles.ts';

const { test, given } = databaseTest({ own: 'lists all operators' });

test('requests are counted by route and status, on a port of their own', async () => {
  const port = await findFreePort();
  const input = { DATABASE_URL: given.database.url, CONSOLE_PORT: '0', METRICS_PORT: String(port) };
  const config = loadConfig(ConsoleConfig, underTest('console', input));
  const { log, assertNothingPrivate } = keptLog('console');
  const console = await startConsole(config, log);
  try {
    for (const path of ['/events/1001', '/operator/v1/events', '/operator/v1/events', '/somewhere/1001'])
      await fetch(console.baseUrl + path, { redirect: 'manual' });
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const [route, code, count] of [
      ['/events/:eventId', '303', 1],
      ['/operator/v1/events', '401', 2],
      ['none', '404', 1],
    ])
      expect(text).toContain(`floodgate_console_requests_total{route="${route}",code="${code}"} ${count}\n`);
    expect(text).toMatch(/^floodgate_console_pool_connections\{pool="main",state="idle"\} \d/m);
    expect((await fetch(`${console.baseUrl}/metrics`)).status).toBe(404);
  } finally {
    await console.disposeAsync();
    assertNothingPrivate();
  }
});
