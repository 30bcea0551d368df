import { perform, readAuditLog } from '@floodgate/audit';
import { migrate, type Database } from '@floodgate/database';
import { createPartnerAction } from '@floodgate/partners/actions';
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { withDatabase } from '../harness/database-url.ts';

// Owned by a role as an operator has it. The other tests' owner is a superuser, whom no privilege stops.

const name = `floodgate_test_${randomBytes(6).toString('hex')}`;
let server: Database;
let owner: Database;

beforeAll(async () => {
  const serverUrl = inject('postgresUrl');
  const open = (connectionString: string) => connectInTest(connectionString);
  server = open(serverUrl);
  const password = randomBytes(12).toString('hex');
  await sql`create role ${sql.id(name)} login password ${sql.lit(password)}`.execute(server);
  await sql`create database ${sql.id(name)} owner ${sql.id(name)}`.execute(server);
  const url = new URL(withDatabase(serverUrl, name));
  Object.assign(url, { username: name, password });
  owner = open(url.href);
  await migrate(owner);
  await perform(owner, createPartnerAction, { name: 'Gala Inc.' }, 'jane');
});

afterAll(async () => {
  await owner.destroy();
  await sql`drop database ${sql.id(name)}`.execute(server);
  await sql`drop role ${sql.id(name)}`.execute(server);
  await server.destroy();
});

test.for([
  "update audit_log set actor = 'joe'",
  'update audit_log set at = now()',
  'delete from audit_log',
  'truncate audit_log',
  'select from audit_log for update',
  "insert into audit_log (id, actor, action, subject) overriding system value values (1, 'a', 'b', 'c') on conflict (id) do update set actor = 'joe'",
])('its owner cannot: %s', async (statement) => {
  await expect(sql.raw(statement).execute(owner)).rejects.toMatchObject({ code: '42501' });
  expect(await readAuditLog(owner, { limit: 10 })).toMatchObject([
    { actor: 'jane', action: 'partner.create' },
  ]);
});
