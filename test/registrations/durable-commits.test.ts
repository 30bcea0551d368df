import { randomBytes } from 'node:crypto';
import { connect, grantPrivileges } from '@floodgate/database';
import { grantQueue, parseQueueUrl } from '@floodgate/queue';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { TEMPLATE_NAMESPACE } from '../harness/database-url.ts';
import { startApiProcess, startProcess } from '../harness/service-process.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

let role: string;
let url: string;

test.beforeAll(async () => {
  role = `floodgate_test_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(24).toString('hex');
  await sql`create role ${sql.id(role)} login password ${sql.lit(password)}`.execute(given.database.db);
  await grantPrivileges(given.database.db, 'api', role);
  await grantQueue(parseQueueUrl(given.database.url), role, TEMPLATE_NAMESPACE);
  url = Object.assign(new URL(given.database.url), { username: role, password }).href;
});

afterAll(async () => {
  await sql`drop owned by ${sql.id(role)}`.execute(given.database.db);
  await sql`drop role ${sql.id(role)}`.execute(given.database.db);
});

test('an API whose commits would not wait for the disk does not start, whoever has set that', async () => {
  const intruder = connect({ connectionString: url, applicationName: 'intruder', maxConnections: 1 });
  await sql`alter role current_user set synchronous_commit = off`.execute(intruder);
  await intruder.destroy();
  const env = { DATABASE_URL: url, QUEUE_URL: url };
  const refused = startProcess('api', { PORT: '0', ...env });
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toContain('synchronous_commit is off for the user in DATABASE_URL');

  await sql`alter role ${sql.id(role)} reset synchronous_commit`.execute(given.database.db);
  const api = await startApiProcess(env);
  expect(await api.end(), api.output()).toBe(0);
});
