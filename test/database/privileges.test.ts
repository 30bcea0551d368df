import {
  assertGranted,
  distribute,
  ensureLoginRole,
  migrate,
  parseGrants,
  readGrants,
  SERVICES,
  type Database,
  type ServiceName,
} from '@floodgate/database';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { eventTest } from '../harness/event-test.ts';
import { countLockWaiters, sumOverServers } from '../harness/lock-waiters.ts';
import { runCli, startProcess } from '../harness/service-process.ts';
import { grantServiceRoles, roleOf, underTest } from '../harness/service-roles.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

const QUEUE_SCHEMA = 'floodgate_queue';
const INSUFFICIENT_PRIVILEGE = '42501';

let connections: Record<ServiceName, Database>;

test.beforeAll(async () => {
  const connectAs = (service: ServiceName) =>
    connectInTest(underTest(service, { DATABASE_URL: given.database.url })['DATABASE_URL']!);
  connections = {
    api: connectAs('api'),
    worker: connectAs('worker'),
    delivery: connectAs('delivery'),
    console: connectAs('console'),
  };
  // So that there is something to read, change and delete.
  await commitBatch(given.database.db, given.gala);
});

afterAll(async () => {
  for (const db of Object.values(connections)) await db.destroy();
});

/** Citus has views in the same schema. */
const IS_OURS = sql`
  relnamespace = current_schema()::regnamespace
  and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')`;
/** A privilege since Postgres 17. */
const MAINTAIN = sql`
  case when current_setting('server_version_num')::integer >= 170000 then array['maintain'] else '{}' end`;

test('a function that runs as the owner looks into temporary tables last', async () => {
  const { rows } = await sql<{ name: string; path: string | null }>`
    select proname as name, (
      select substr(setting, length('search_path=') + 1) from unnest(proconfig) as setting
      where setting like 'search_path=%'
    ) as path
    from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
    order by 1`.execute(given.database.db);
  expect(rows.length).toBeGreaterThan(0);
  for (const { name, path: searchPath } of rows)
    expect([name, searchPath]).toEqual([name, expect.stringMatching(/^(?!.*pg_temp.*,).*, "?pg_temp"?$/)]);
});

/** Every privilege that the role holds on a relation of the schema, each as "select table.column" or "delete table". */
async function heldBy(role: string): Promise<string[]> {
  const { rows } = await sql<{ held: string }>`
    select privilege || ' ' || relname || '.' || attname as held
    from pg_class join pg_attribute on attrelid = pg_class.oid and not attisdropped,
      unnest(array['select', 'insert', 'update', 'references']) as privilege
    where ${IS_OURS} and relkind in ('r', 'p', 'v', 'm', 'f')
      and has_column_privilege(${role}, attrelid, attnum, privilege)
    union all
    select privilege || ' ' || relname
    from pg_class, unnest(array['delete', 'truncate', 'trigger'] || ${MAINTAIN}) as privilege
    where ${IS_OURS} and relkind in ('r', 'p', 'v', 'm', 'f')
      and has_table_privilege(${role}, pg_class.oid, privilege)
    union all
    select privilege || ' ' || relname
    from pg_class, unnest(array['usage', 'select', 'update']) as privilege
    where relnamespace = current_schema()::regnamespace and relkind = 'S'
      and has_sequence_privilege(${role}, pg_class.oid, privilege)
`.execute(given.database.db);
  return rows.map(({ held }) => held).toSorted();
}

/** The same as sql/grants says. A privilege on the whole table is one on its system columns, too. */
async function declaredFor(service: ServiceName): Promise<string[]> {
  const { rows } = await sql<{ table: string; column: string }>`
    select relname as "table", attname as "column"
    from pg_class join pg_attribute on attrelid = pg_class.oid and not attisdropped
    where relnamespace = current_schema()::regnamespace and relkind = 'r'`.execute(given.database.db);
  return parseGrants(await readGrants(service))
    .filter(({ kind }) => kind !== 'function')
    .flatMap(({ names, ...grant }) => names.map((name) => ({ name, ...grant })))
    .flatMap(({ kind, name, privilege, columns }) => {
      if (kind === 'sequence' || privilege === 'delete') return [`${privilege} ${name}`];
      const all = rows.filter((row) => row.table === name).map(({ column }) => column);
      return (columns ?? all).map((column) => `${privilege} ${name}.${column}`);
    })
    .toSorted();
}

test('the tables that are probed below are all tables of the schema', async () => {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where ${IS_OURS} and relkind in ('r', 'p', 'v', 'm', 'f')`.execute(given.database.db);
  expect(TABLES.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});

test.for(SERVICES)('the role of the %s holds what is declared and nothing else', async (service) => {
  expect(await heldBy(roleOf(service))).toEqual(await declaredFor(service));
  const { rows } = await sql`
    select has_database_privilege(${roleOf(service)}, current_database(), 'create') as "createSchema",
      has_database_privilege(${roleOf(service)}, current_database(), 'temporary') as "createTemporary",
      (select count(*)::integer from pg_namespace
        where nspname !~ '^pg_' and has_schema_privilege(${roleOf(service)}, oid, 'create')) as "createIn",
      rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as "isAdministrator",
      (select count(*)::integer from pg_auth_members where member = pg_roles.oid) as memberships
    from pg_roles where rolname = ${roleOf(service)}`.execute(given.database.db);
  expect(rows).toEqual([
    { createSchema: false, createTemporary: false, createIn: 0, isAdministrator: false, memberships: 0 },
  ]);
});

const TABLES_FOLDER = path.resolve(import.meta.dirname, '../../packages/database/sql/tables');
/** Those of the files, and the one in which `migrate` keeps what it has run. */
const TABLES = readdirSync(TABLES_FOLDER)
  .map((file) => readFileSync(path.join(TABLES_FOLDER, file), 'utf8'))
  .flatMap((text) => Array.from(text.matchAll(/^create (?:unlogged )?table (\w+)/gm), ([, name]) => name!))
  .concat('schema_files');
const OPERATORS_TABLES = ['partners', 'events', 'event_grants', 'secret_keys', 'tickets'];

/** What neither may do, whatever else it may. */
const FORBIDDEN = [
  ...TABLES.flatMap((table) => [
    `drop table ${table}`,
    `truncate ${table}`,
    `alter table ${table} add column extra text`,
    `alter table ${table} disable trigger all`,
    `create index on ${table} ((1))`,
    `create trigger mine before insert on ${table} execute function suppress_redundant_updates_trigger()`,
  ]),
  'delete from registrations',
  'delete from batches',
  'update pass_keys set private_key = private_key',
  'insert into schema_files (name, hash, release) values ($$9999$$, $$$$, $$$$)',
  'delete from schema_files',
  'delete from service_roles',
  'create table mine ()',
  'create temporary table mine ()',
  'create schema mine',
  'create view mine as select 1',
  'create function mine() returns integer language sql as $$ select 1 $$',
  'create role mine login',
  'create database mine',
  `alter role ${roleOf('api')} superuser`,
  'create extension dblink',
  'copy partners to program $$true$$',
  'select pg_read_file($$/etc/passwd$$)',
  'select rolpassword from pg_authid',
  `drop table ${QUEUE_SCHEMA}.job`,
  `alter table ${QUEUE_SCHEMA}.job add column extra text`,
  `create table ${QUEUE_SCHEMA}.mine ()`,
  `delete from ${QUEUE_SCHEMA}.migration`,
];

/** What only operators may do, with the command line or the console. */
const BY_OPERATORS = [
  ...OPERATORS_TABLES.flatMap((table) => [`insert into ${table} default values`, `delete from ${table}`]),
  'select from operators',
  'select from operator_access',
  'select from search_entries',
  "select find_entries(0, '{ada}', null, 1, null, 1)",
];

const FORBIDDEN_TO: Record<ServiceName, string[]> = {
  api: [
    ...FORBIDDEN,
    ...BY_OPERATORS,
    ...['secret', 'private_key'].map((column) => `select ${column} from webhook_secrets`),
    "update webhook_secrets set secret = ''",
    "insert into webhook_attempts (shard_id, endpoint_id, message_id, entries, took_ms, outcome) values (0, gen_random_uuid(), '', 0, 0, '')",
    ...['key_id', 'partner_id', 'secret_hash', 'created_at', 'expires_at', 'revoked_at'].map(
      (column) => `update secret_keys set ${column} = ${column}`,
    ),
    ...['name', 'requests_per_second'].map((column) => `update partners set ${column} = ${column}`),
    ...['ref', 'name', 'pass_prefix', 'duplicate_policy'].map(
      (column) => `update events set ${column} = ${column}`,
    ),
    'update event_grants set partner_id = partner_id',
    ...['capacity', 'title', 'price', 'benefits', 'active', 'event_id', 'sale_starts_at', 'sale_ends_at'].map(
      (column) => `update tickets set ${column} = ${column}`,
    ),
    'update registrations set cancelled_at = now()',
    'update registrations set partner_id = partner_id',
    'update batches set state = state',
    'delete from secret_key_uses',
    'update secret_key_uses set key_id = key_id',
    'update idempotency_keys set outcomes = outcomes',
    ...['full_name', 'email_address', 'phone_number', 'gender', 'table_or_seat', 'extra_data_1'].map(
      (column) => `select ${column} from registrations`,
    ),
    'select * from registrations',
    'select name from partners',
    'select contact_email from partners',
    "update partners set contact_email = ''",
    'select count(*) from deliveries',
    "insert into deliveries (shard_id, event_id, kind, subject) values (0, 1, 'confirmation', '1')",
    'select from partner_audit_log',
    'delete from partner_audit_log',
    `set role ${roleOf('worker')}`,
  ],
  worker: [
    ...FORBIDDEN,
    ...BY_OPERATORS,
    ...[...OPERATORS_TABLES, 'rate_limit_windows']
      .filter((table) => table !== 'tickets')
      .map((table) => `select from ${table} for update`),
    // Citus locks rows of one shard only.
    ...['tickets', 'registrations'].map((table) => `select from ${table} where shard_id = 0 for update`),
    ...['partners', 'event_grants', 'secret_keys', 'rate_limit_windows', 'scans', 'admissions'].map(
      (table) => `select count(*) from ${table}`,
    ),
    ...['events', 'gates', 'devices'].map((table) => `select name from ${table}`),
    ...['token_hash', 'code_hash'].map((column) => `select ${column} from devices`),
    ...[
      'full_name',
      'email_address',
      'phone_number',
      'gender',
      'table_or_seat',
      'extra_data_1',
      'pass_code',
    ].map((column) => `select ${column} from registrations`),
    'update tickets set taken = 0',
    'update secret_keys set expires_at = now()',
    'select key from idempotency_keys',
    'select outcomes from idempotency_keys',
    'select from secret_key_uses',
    "insert into secret_key_uses values ('', now())",
    'insert into batches (id, size, first_serial, last_serial, relay_at) values (gen_random_uuid(), 1, 1, 1, now())',
    'update batches set size = 0',
    ...['webhook_endpoints', 'webhook_secrets', 'webhook_attempts', 'deliveries', 'journal_consumers'].map(
      (table) => `select count(*) from ${table}`,
    ),
    `set role ${roleOf('api')}`,
  ],
  delivery: [
    ...FORBIDDEN,
    // It looks for other registrations of an address.
    ...BY_OPERATORS.filter((statement) => !/search_entries|find_entries/.test(statement)),
    ...['rate_limit_windows', 'idempotency_keys'].map((table) => `select count(*) from ${table}`),
    ...['key_id', 'secret_hash'].map((column) => `select ${column} from secret_keys`),
    ...['name', 'weight', 'requests_per_second'].map((column) => `select ${column} from partners`),
    "update partners set contact_email = ''",
    ...['phone_number', 'gender', 'extra_data_1', 'extra_data_2', 'attendee_digest'].map(
      (column) => `select ${column} from registrations`,
    ),
    'update registrations set cancelled_at = now()',
    'update tickets set taken = 0',
    'update batches set state = state',
    'select subject from partner_audit_log',
    "insert into partner_audit_log (actor, action, subject) values ('', '', '')",
    'update journal_heads set last_offset = 0',
    'update journal_segments set count = 0',
    'delete from journal_segments',
    'delete from journal_consumers',
    'update journal_consumers set event_id = 0',
    'insert into journal_consumers (shard_id, id, kind, event_id, partner_id) values (0, gen_random_uuid(), $$mail$$, 1, 0)',
    "update webhook_endpoints set url = ''",
    'delete from webhook_endpoints',
    'update webhook_secrets set ends_at = null',
    'update webhook_attempts set entries = 0',
    `set role ${roleOf('worker')}`,
  ],
  console: [
    ...FORBIDDEN,
    'select secret_hash from secret_keys',
    'select private_key from pass_keys',
    'update pass_keys set public_key = public_key',
    ...['secret', 'private_key'].map((column) => `select ${column} from webhook_secrets`),
    ...['partners', 'events', 'secret_keys', 'operators', 'audit_log', 'journal_segments'].map(
      (table) => `delete from ${table}`,
    ),
    'update audit_log set actor = actor',
    'update partner_audit_log set actor = actor',
    'update registrations set cancelled_at = now()',
    // Guests are reserved by a function of the owner.
    'insert into registrations (shard_id, serial) values (0, 1)',
    'insert into batches (id, size, first_serial, last_serial, relay_at) values (gen_random_uuid(), 1, 1, 1, now())',
    "select nextval('registrations_serial_seq')",
    'update tickets set taken = 0',
    ...['ref', 'mode', 'pass_prefix', 'duplicate_policy'].map(
      (column) => `update events set ${column} = ${column}`,
    ),
    'update secret_keys set partner_id = partner_id',
    'update journal_heads set last_offset = 0',
    `set role ${roleOf('api')}`,
  ],
};

describe.for(SERVICES)('the role of the %s', (service) => {
  test('is refused everything that would change the schema, the keys, the settings or the books', async () => {
    const { rows } = await sql<{ owner: string }>`select current_user as owner`.execute(given.database.db);
    const allowed: string[] = [];
    for (const statement of [...FORBIDDEN_TO[service], `set role ${sqlName(rows[0]!.owner)}`]) {
      const code = await sql
        .raw(statement)
        .execute(connections[service])
        .then(
          () => 'allowed',
          (error: { code?: string }) => error.code,
        );
      if (code !== INSUFFICIENT_PRIVILEGE) allowed.push(`${statement}: ${code}`);
    }
    expect(allowed).toEqual([]);
  });

  test('loses, with the next grant, what somebody gave it by hand', async () => {
    const role = sql.id(roleOf(service));
    const before = await heldBy(roleOf(service));
    for (const statement of [
      sql`grant all on all tables in schema public to ${role}`,
      sql`grant update (full_name) on registrations to ${role}`,
      sql`grant usage on all sequences in schema public to ${role}`,
      sql`grant create on schema public to ${role}`,
      sql`grant temporary on database ${sql.id(databaseName())} to public`,
    ])
      await statement.execute(given.database.db);
    expect(await heldBy(roleOf(service))).not.toEqual(before);
    await grantServiceRoles(given.database.db);
    expect(await heldBy(roleOf(service))).toEqual(before);
    for (const statement of ['create table mine ()', 'create temporary table mine ()'])
      await expect(sql.raw(statement).execute(connections[service])).rejects.toMatchObject({
        code: INSUFFICIENT_PRIVILEGE,
      });
  });

  test('is told at the start which privilege it lacks', async () => {
    await expect(assertGranted(connections[service], service)).resolves.toBeUndefined();
    await sql`revoke select on batches from ${sql.id(roleOf(service))}`.execute(given.database.db);
    const process = startProcess(service, {
      DATABASE_URL: given.database.url,
      QUEUE_URL: given.database.url,
      PORT: '0',
      WORKER_PORT: '0',
      DELIVERY_PORT: '0',
      CONSOLE_PORT: '0',
    });
    expect(await process.exited).toBe(1);
    expect(process.output()).toMatch(
      new RegExp(
        `the user in DATABASE_URL lacks select on batches, which the ${service} needs; ` +
          `run "npm run floodgate -- grant ${service} <role>"`,
      ),
    );
    await grantServiceRoles(given.database.db);
    await expect(assertGranted(connections[service], service)).resolves.toBeUndefined();
  });
});

/** Who may execute each of our functions, besides the owner. A new function has to be listed here. */
const EXECUTED_BY: Record<string, ServiceName[]> = {
  reserve_batch: ['api'],
  // Called by reserve_batch, with the rights of its caller.
  find_first_answer: ['api'],
  find_earlier: ['api'],
  reserve_general: ['api'],
  lock_tickets: ['api'],
  limit_partners: ['api'],
  decide_seats: ['api'],
  insert_registrations: ['api'],
  reserve_guests: ['console'],
  change_registrations: ['api', 'console'],
  change_and_read_holds: ['api'],
  change_holds: ['api'],
  replace_attendee: ['api', 'console'],
  join_waiting: ['api'],
  leave_waiting: ['api'],
  find_waiting: ['api'],
  serve_waiting_lists: ['worker'],
  finalize_batches: ['worker'],
  expire_holds: ['worker'],
  index_attendees: ['worker'],
  find_entries: ['delivery', 'console'],
  // Called by find_entries and by corrections, with the rights of their caller.
  rarest_query: ['delivery', 'console'],
  queries_of_term: ['delivery', 'console'],
  words_of_entry: ['console'],
  fold_text: ['delivery', 'console'],
  fold_phone: ['delivery', 'console'],
  compact_held_seats: ['worker'],
  run_job_batch: ['worker'],
  // Called by functions of the owner.
  add_entries: [],
  add_held_and_old: [],
  record_changes: [],
  release_registrations: [],
  describe_holds: [],
  change_waiting: [],
  serve_waiting: [],
  take_changes: [],
  append_entries: [],
  append_ticket_states: [],
  record_scans: ['api'],
  record_scan: [],
  find_fork: [],
  undo_scan: [],
  admit_scan: [],
  record_admissions: [],
  settle_admissions: [],
  lock_seats: [],
  cancel_items: [],
  resend_items: [],
  find_news: ['delivery', 'console'],
  webhook_delivered: ['delivery'],
  lease_deliveries: ['delivery'],
  record_deliveries: ['delivery'],
};
const USERS_OF_THE_QUEUE: ServiceName[] = ['api', 'worker'];

describe('functions', () => {
  /** A call of every function, with null for each argument except the shard. */
  async function callsIn(schema: string) {
    const { rows } = await sql<{ name: string; call: string }>`
      select proname as name, format('select %s(%s)', oid::regproc, (
        select string_agg(
          format(case when place = 1 and proargnames[1] = 'shard' then '0::%s' else 'null::%s' end, format_type(type, null)),
          ', ' order by place)
        from unnest(proargtypes) with ordinality as _ (type, place)
      )) as call
      from pg_proc
      where pronamespace = ${schema}::regnamespace
        and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`.execute(
      given.database.db,
    );
    return rows;
  }

  /** Whether Postgres lets this connection execute what it calls, whatever becomes of the call. */
  async function mayCall(db: Database, call: string): Promise<boolean> {
    const transaction = await db.startTransaction().execute();
    const refusal = await sql
      .raw(call)
      .execute(transaction)
      .then(
        () => '',
        ({ code, message }: Error & { code?: string }) => (code === INSUFFICIENT_PRIVILEGE ? message : ''),
      );
    await transaction.rollback().execute();
    return !/ (function|schema) /.test(refusal);
  }

  test('of ours are executed by the services that call them, and by nobody else', async () => {
    const url = new URL(given.database.url);
    const nobody = `floodgate_test_nobody_${randomBytes(6).toString('hex')}`;
    await ensureLoginRole(given.database.db, nobody, decodeURIComponent(url.password));
    const connectionString = Object.assign(new URL(url), { username: nobody }).href;
    const stranger = connectInTest(connectionString);
    const callers = { ...connections, nobody: stranger };
    const [ours, ofQueue] = [await callsIn('public'), await callsIn(QUEUE_SCHEMA)];
    expect(ours.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXECUTED_BY).toSorted());
    expect(ofQueue.length).toBeGreaterThan(0);
    const expected = [
      ...ours.map(({ name, call }) => ({ call, by: EXECUTED_BY[name] })),
      ...ofQueue.map(({ call }) => ({ call, by: USERS_OF_THE_QUEUE })),
    ];
    const found = [];
    for (const { call } of expected) {
      const by = [];
      for (const [caller, db] of Object.entries(callers)) if (await mayCall(db, call)) by.push(caller);
      found.push({ call, by });
    }
    await stranger.destroy();
    await sql`drop role ${sql.id(nobody)}`.execute(given.database.db);
    expect(found).toEqual(expected);
  });

  test('of ours cannot be executed by everybody, on whichever server', async () => {
    const open = `
      select count(*) from pg_proc
      where pronamespace in ('public'::regnamespace, '${QUEUE_SCHEMA}'::regnamespace)
        and has_function_privilege('public', oid, 'execute')
        and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`;
    // The queue is on the coordinator alone.
    const ours = open.replace(`, '${QUEUE_SCHEMA}'::regnamespace`, '');
    expect((await sql.raw(open).execute(given.database.db)).rows).toEqual([{ count: 0 }]);
    expect(await sumOverServers(given.database.db, ours)).toBe(0);
  });

  test('that a migration replaces are executed by the services again, and by nobody else', async () => {
    await sql`update schema_files set hash = 'another' where name in ('reserve_batch', 'find_news')`.execute(
      given.database.db,
    );
    const replaced = ['find_news', 'reserve_batch'];
    for (const name of replaced) await sql`drop function ${sql.ref(name)}`.execute(given.database.db);
    expect(await migrate(given.database.db)).toEqual(replaced);
    await distribute(given.database.db);
    for (const service of SERVICES) await assertGranted(connections[service], service);
    expect(await mayCall(connections.worker, `select find_news(0, 'mail')`)).toBe(false);
  });

  test('that a migration adds are executed by the services before it repeats their grants', async ({
    onTestFinished,
  }) => {
    const { db } = given.database;
    const { call } = (await callsIn('public')).find(({ name }) => name === 'find_earlier')!;
    await sql`drop function find_earlier`.execute(db);
    await sql`delete from schema_files where name = 'find_earlier'`.execute(db);
    // The grants write to this table.
    const holder = await db.startTransaction().execute();
    onTestFinished(async () => void (holder.isCommitted || (await holder.rollback().execute())));
    await sql`lock table service_roles in exclusive mode`.execute(holder);
    const migrated = migrate(db);
    await expect.poll(() => countLockWaiters(db)).toBe(1);
    expect(await mayCall(connections.api, call)).toBe(true);
    expect(await mayCall(connections.worker, call)).toBe(false);
    await holder.commit().execute();
    expect(await migrated).toEqual(['find_earlier']);
  });
});

test('grants that a release changes are repeated by its migration', async () => {
  const { rows } = await sql<{ role: string }>`select current_user as role`.execute(connections.delivery);
  await sql`revoke select on events from ${sql.id(rows[0]!.role)}`.execute(given.database.db);
  await expect(assertGranted(connections.delivery, 'delivery')).rejects.toThrow('events');
  expect(await migrate(given.database.db)).toEqual([]);
  await sql`update schema_files set hash = 'another' where name = 'grants/delivery'`.execute(
    given.database.db,
  );
  expect(await migrate(given.database.db)).toEqual(['grants/delivery']);
  await assertGranted(connections.delivery, 'delivery');
});

const databaseName = () => new URL(given.database.url).pathname.slice(1);
const sqlName = (name: string) => `"${name}"`;

describe('floodgate grant', () => {
  let role: string;

  const grant = (...args: string[]) =>
    runCli({ DATABASE_URL: given.database.url, QUEUE_URL: given.database.url }, 'grant', ...args);
  const createRole = (attributes: string) =>
    sql`create role ${sql.id(role)} ${sql.raw(attributes)}`.execute(given.database.db);

  beforeEach(({ onTestFinished }) => {
    role = `floodgate_test_${randomBytes(6).toString('hex')}`;
    onTestFinished(async () => {
      await sql`drop owned by ${sql.id(role)}`.execute(given.database.db).catch(() => {});
      await sql`drop role if exists ${sql.id(role)}`.execute(given.database.db);
    });
  });

  test('gives a fresh role what the service needs, in the database and in its queue; safe to repeat', async () => {
    await createRole('login');
    expect(await heldBy(role)).toEqual([]);
    for (const _ of [1, 2]) {
      const { code, output } = await grant('worker', role, '--json');
      expect(JSON.parse(output)).toEqual({ service: 'worker', role, queue: 'granted' });
      expect(code).toBe(0);
      expect(await heldBy(role)).toEqual(await declaredFor('worker'));
    }
    const { rows } = await sql`
      select has_table_privilege(${role}, ${`${QUEUE_SCHEMA}.job`}, 'insert') as "add",
        has_table_privilege(${role}, ${`${QUEUE_SCHEMA}.migration`}, 'insert') as migrate`.execute(
      given.database.db,
    );
    expect(rows).toEqual([{ add: true, migrate: false }]);
    const noted = await tablesOf(given.database.db)
      .selectFrom('audit_log')
      .select(['action', 'subject', 'after'])
      .execute();
    const grantNoted = { action: 'role.grant', subject: `role:${role}`, after: { service: 'worker' } };
    expect(noted.filter(({ subject }) => subject === `role:${role}`)).toEqual([grantNoted, grantNoted]);
  });

  test('turns a role of one service into that of another', async () => {
    await createRole('login');
    await grant('api', role);
    await grant('worker', role);
    expect(await heldBy(role)).toEqual(await declaredFor('worker'));
  });

  test.for(['superuser', 'createrole', 'createdb', 'replication', 'bypassrls', `in role ${roleOf('api')}`])(
    'refuses a role that could help itself to more: %s',
    async (attribute) => {
      await createRole(`login ${attribute}`);
      const { code, output } = await grant('api', role);
      expect({ code, output }).toEqual({
        code: 1,
        output: expect.stringMatching(
          /^floodgate: this role is an administrator, owns something or [^\n]+\n$/,
        ),
      });
    },
  );

  test('says so where it cannot take from everybody the right to create', async () => {
    await createRole('login');
    const [name, other] = [sql.id(databaseName()), sql.id(`${role}_other`)];
    await sql`create role ${other}`.execute(given.database.db);
    await sql`grant temporary on database ${name} to ${other} with grant option`.execute(given.database.db);
    // What somebody else has granted is not the owner's to revoke.
    await given.database.db.transaction().execute(async (transaction) => {
      await sql`set local role ${other}`.execute(transaction);
      await sql`grant temporary on database ${name} to public`.execute(transaction);
    });
    const { code, output } = await grant('worker', role);
    await sql`revoke temporary on database ${name} from ${other} cascade`.execute(given.database.db);
    await sql`drop role ${other}`.execute(given.database.db);
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringMatching(/^floodgate: granted, but everybody may still create things [^\n]+\n$/),
    });
    expect(await grant('worker', role)).toMatchObject({ code: 0 });
  });

  test('refuses a role that owns a table', async () => {
    await createRole('login');
    await sql`create table theirs ()`.execute(given.database.db);
    await sql`alter table theirs owner to ${sql.id(role)}`.execute(given.database.db);
    expect(await grant('api', role)).toMatchObject({ code: 1 });
    await sql`drop table theirs`.execute(given.database.db);
  });

  test.for(['nologin', null])('refuses a role that nobody can log in with: %s', async (attributes) => {
    if (attributes) await createRole(attributes);
    const { code, output } = await grant('api', role);
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringMatching(/^floodgate: no such login role; [^\n]+\n$/),
    });
  });
});
