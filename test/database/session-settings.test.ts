import { openServicePool } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { createLogger } from '@floodgate/service';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli, startApiProcess, type ServiceProcess } from '../harness/service-process.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

// What a database has as its defaults is somebody else's choice. Each is one that broke or slowed the services.
const DEFAULTS = {
  DateStyle: 'German',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kathmandu',
  bytea_output: 'escape',
  default_transaction_isolation: 'serializable',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
};

const CONCURRENT = 32;
const ROUNDS = 20;

test.override('ticket', {});

let apis: (ServiceProcess & { baseUrl: string })[];

test.beforeAll(async () => {
  const name = sql.id(new URL(given.database.url).pathname.slice(1));
  for (const [setting, value] of Object.entries(DEFAULTS))
    await sql`alter database ${name} set ${sql.id(setting)} = ${sql.lit(value)}`.execute(given.database.db);
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: 'redis://127.0.0.1:1' };
  apis = await Promise.all([startApiProcess(env), startApiProcess(env)]);
});

afterAll(async () => {
  for (const api of apis) expect(await api.end(), api.output()).toBe(0);
});

const partners = () => apis.map(({ baseUrl }) => new PartnerClient(baseUrl, given.gala));

test('two processes that sell the same ticket wait for each other and refuse nobody', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await Promise.all(
      partners().flatMap((partner) =>
        Array.from({ length: CONCURRENT / 2 }, (_, index) =>
          partner.register(attendee(given.ticketId, index % 2 === 0 ? {} : { phoneNumber: null })),
        ),
      ),
    );
    expect(answers.map(({ body }) => body.responseCode)).toEqual(answers.map(() => '00'));
  }
  expect(await reconcile(given.database.db)).toEqual([]);
});

test('absent fields stay absent beside others that are there', async () => {
  const { rows } = await sql`
    select phone_number is null as "isAbsent", count(*)::integer from registrations group by 1 order by 1`.execute(
    given.database.db,
  );
  expect(rows).toEqual([
    { isAbsent: false, count: (ROUNDS * CONCURRENT) / 2 },
    { isAbsent: true, count: (ROUNDS * CONCURRENT) / 2 },
  ]);
});

test('timestamps are read as they are', async () => {
  const [partner] = partners();
  const { body } = await partner!.tickets();
  expect(body.responseCode).toBe('00');
  const [ticket] = body.responseData as { lastModifiedDate: string }[];
  // Another zone would be off by half an hour or more.
  const halfHours = Math.round((Date.now() - Date.parse(ticket!.lastModifiedDate)) / 1_800_000);
  expect(halfHours).toBe(0);
  const keys = await runCli({ DATABASE_URL: given.database.url }, 'key', 'list');
  expect(keys.output).toContain(new Date().toISOString().slice(0, 10));
});

test('a service that stops inside a transaction loses its locks, and a session without its client ends', async () => {
  const owner = {
    service: 'delivery',
    connectionString: given.database.url,
    log: createLogger('test', 'silent'),
  } as const;
  await using db = openServicePool(owner, { maxConnections: 1 });
  const { rows } = await sql`
    select current_setting('idle_in_transaction_session_timeout') as transaction, current_setting('idle_session_timeout') as session`.execute(
    db,
  );
  expect(rows).toEqual([{ transaction: '10s', session: '90s' }]);
});
