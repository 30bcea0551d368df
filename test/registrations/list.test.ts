import { type Database } from '@floodgate/database';
import { confirmBatches, leaseDueBatches, listRegistrations } from '@floodgate/registrations';
import { sql } from 'kysely';
import { describe, expect, onTestFinished } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { expectRetryAfter } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTable } from '../harness/hold-table.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { RawConnection } from '../harness/raw-http.ts';
import { runCli } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({ own: 'changes the schema, the roles or the settings of its database' });

test.override('ticket', {});

async function register(count: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => given.partner.register(attendee(given.ticketId))),
  );
  return answers.map(({ body }) => String(body.responseData));
}

/** Finalizes all pending batches, as a worker does. */
async function finalize(): Promise<void> {
  const { shardId } = given.gala;
  await sql`update batches set relay_at = now() where state = 'pending'`.execute(given.database.db);
  await confirmBatches(given.database.db, {
    shardId,
    batchIds: await leaseDueBatches(given.database.db, shardId, 1_000),
  });
}

interface Page {
  registrations: { passReference: string; state: string; dateFinalized: string | null }[];
  cursor: string;
  more: boolean;
}

const ask = (query: string, caller: Fixture = given.gala, baseUrl = given.api.baseUrl) =>
  fetch(`${baseUrl}/api/v1/events/registrations${query}`, {
    headers: { 'x-secret-key': caller.secretKey, 'x-event-ref': caller.eventRef },
  });

async function list(query = ''): Promise<Page> {
  const response = await ask(query);
  const body = (await response.json()) as { responseCode: string; responseData: Page };
  expect([response.status, body.responseCode]).toEqual([200, '00']);
  return body.responseData;
}

test('an entry has the fields of Get Registration, and the cursor leads on', async () => {
  expect(await list()).toEqual({ registrations: [], cursor: '0', more: false });
  const [passReference] = await register(1);
  expect((await list()).registrations).toEqual([]);
  await finalize();
  const { body } = await given.partner.registration(passReference!);
  const page = await list();
  expect(page).toEqual({ registrations: [body.responseData], cursor: page.cursor, more: false });
  expect(await list(`?after=${page.cursor}`)).toEqual({
    registrations: [],
    cursor: page.cursor,
    more: false,
  });
});

test('pages hold every registration once', async () => {
  const passReferences = await register(7);
  await finalize();
  passReferences.push(...(await register(4)));
  await finalize();
  const found: string[] = [];
  let page: Page = { registrations: [], cursor: '0', more: true };
  while (page.more) {
    page = await list(`?limit=3&after=${page.cursor}`);
    expect(page.registrations.length).toBeLessThanOrEqual(3);
    found.push(...page.registrations.map((registration) => registration.passReference));
  }
  expect(found.toSorted()).toEqual(passReferences.toSorted());
});

test("another partner's registrations under the same event are not there", async () => {
  const other = await createFixture(given.database.db);
  await sql`
    insert into event_grants (partner_id, event_id) values (${other.partnerId}, ${given.gala.eventId})`.execute(
    given.database.db,
  );
  const theirs = new PartnerClient(given.api.baseUrl, { ...given.gala, secretKey: other.secretKey });
  await theirs.register(attendee(given.ticketId));
  const [mine] = await register(1);
  await finalize();
  expect((await list()).registrations.map(({ passReference }) => passReference)).toEqual([mine]);
});

test('state leaves out what has another one', async () => {
  await register(2);
  await finalize();
  expect((await list('?state=confirmed')).registrations).toHaveLength(2);
  expect((await list('?state=failed')).registrations).toEqual([]);
});

test.each([
  ['?limit=0', 'limit: optional, the maximum number of entries, from 1 to 1000. Default: 100'],
  ['?limit=1001', 'limit: optional, the maximum number of entries, from 1 to 1000. Default: 100'],
  ['?after=-1', 'after: optional, the cursor of the previous page. Default: the beginning of the list'],
  ['?after[]=1', 'after: optional, the cursor of the previous page. Default: the beginning of the list'],
  [
    '?after=1&after%5B0%5D=1',
    'after: optional, the cursor of the previous page. Default: the beginning of the list',
  ],
  ['?limit[]=1', 'limit: optional, the maximum number of entries, from 1 to 1000. Default: 100'],
  [
    '?after=1&after=2',
    'after: optional, the cursor of the previous page. Default: the beginning of the list',
  ],
  ['?state=reserved', 'state: optional, only entries of this state: confirmed, cancelled or failed'],
])('%s is refused', async (query, message) => {
  const response = await ask(query);
  expect(response.status).toBe(422);
  expect(await response.json()).toEqual({ responseCode: '11', responseMessage: message, responseData: null });
});

test('a cursor that cannot be gone on from is refused, and says what to do', async () => {
  await register(1);
  await finalize();
  const { cursor } = await list();
  await register(1);
  await finalize();
  const messageOf = async (after: string | number) => {
    const response = await ask(`?after=${after}`);
    const body = (await response.json()) as Record<string, unknown>;
    expect([response.status, body['responseCode'], body['responseData']]).toEqual([422, '11', null]);
    return body['responseMessage'];
  };
  expect(await messageOf(999_999_999_999_999)).toBe(
    'after: the history does not reach this cursor; without it the list starts at the beginning',
  );
  await sql`delete from journal_segments where last_offset <= ${cursor}::bigint + 1`.execute(
    given.database.db,
  );
  expect(await messageOf(cursor)).toBe(
    'after: the entries after this cursor are no longer kept; without it the list starts at the beginning',
  );
  expect((await list()).registrations).toEqual([]);
});

test('a page is found by keys, whatever Postgres knows of the tables', async () => {
  await sql`
    insert into registrations (shard_id, batch_id, position, ticket_id, event_id, partner_id, pass_code, full_name, email_address)
    select 0, gen_random_uuid(), 0, 1, 1, 1, 1234567890, 'Jane Doe', 'jane@example.com' from generate_series(1, 20000)`.execute(
    given.database.db,
  );
  const one = connectInTest(given.database.url);
  onTestFinished(() => one.destroy());
  /** Returns how many rows sequential scans have read in this transaction, by Postgres's statistics. */
  const scanned = async (transaction: Database) => {
    const { rows } = await sql<{ read: number }>`
      select sum(seq_tup_read)::integer as read from pg_stat_xact_user_tables
      where relname in ('registrations', 'batches')`.execute(transaction);
    return rows[0]!.read;
  };
  await register(500);
  await finalize();
  const selection = { shardId: 0, eventId: given.gala.eventId, partnerId: given.gala.partnerId };
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await sql`select set_config('plan_cache_mode', ${mode}, false)`.execute(one);
    await one.transaction().execute(async (transaction) => {
      expect(await listRegistrations(transaction, selection, 0, 1_000)).toMatchObject({
        rows: { length: 500 },
      });
      expect(await scanned(transaction)).toBe(0);
    });
  }
});

describe('where more lists are asked for than Postgres answers', () => {
  test('everybody is answered 90, while Postgres does not answer', async () => {
    // The test waits for the whole time that an answer may take.
    const env = { DATABASE_URL: given.database.url, ANSWER_WITHIN_MS: '1500' };
    const { baseUrl, close } = await startInProcessApi(env);
    onTestFinished(close);
    const askIt = () => ask('?limit=1000', given.gala, baseUrl);
    await askIt();
    const { release } = await holdTable(given.database.db, 'journal_segments');
    const answers = await Promise.all(Array.from({ length: 300 }, askIt));
    await release();
    const told = await Promise.all(
      answers.map(async (answer) => {
        expectRetryAfter(answer, 1);
        return `${answer.status} ${await answer.text()}`;
      }),
    );
    expect(new Set(told)).toEqual(
      new Set([
        '503 {"responseCode":"90","responseMessage":"The service is overloaded; nothing was reserved","responseData":null}',
      ]),
    );
    expect((await list()).registrations).toEqual([]);
  });

  test('a flood of one partner keeps no other from its turn', async () => {
    const other = await createFixture(given.database.db);
    await Promise.all([list(), ask('', other)]);
    const { release, waiters } = await holdTable(given.database.db, 'journal_segments');
    const flood = await Promise.all(
      Array.from({ length: 90 }, async () => {
        const connection = await RawConnection.open(given.api.baseUrl);
        connection.send(
          `GET /api/v1/events/registrations?limit=1000 HTTP/1.1\r\nhost: api\r\n` +
            `x-secret-key: ${given.gala.secretKey}\r\nx-event-ref: ${given.gala.eventRef}\r\n\r\n`,
        );
        return connection;
      }),
    );
    await waitUntil('one of them is read', async () => (await waiters()) > 0);
    let answered = 0;
    for (const connection of flood) void connection.answer().then(() => (answered += 1));
    const theirs = ask('', other).then(({ status }) => ({ status, before: answered }));
    await waitUntil('a second one is, as the first takes long', async () => (await waiters()) > 1);
    await release();
    const { status, before } = await theirs;
    expect(status).toBe(200);
    expect(before).toBeLessThan(45);
    await waitUntil('all are answered', () => answered === flood.length);
    for (const connection of flood) connection.close();
  });
});

test('the command lists and shows the same', async () => {
  const [passReference] = await register(1);
  await finalize();
  const env = { DATABASE_URL: given.database.url };
  const command = [
    'registration',
    'list',
    String(given.gala.eventId),
    String(given.gala.partnerId),
    '--json',
  ];
  const listed = await runCli(env, ...command);
  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.output)).toMatchObject({
    registrations: [{ passReference, state: 'confirmed' }],
    cursor: expect.stringMatching(/^[1-9][0-9]*$/) as string,
    more: false,
  });
  await given.partner.register({ ...attendee(given.ticketId), partnerReference: 'order 7' });
  const found = await runCli(env, ...command, '--partner-reference', 'order 7');
  expect(JSON.parse(found.output)).toMatchObject({
    registrations: [{ state: 'reserved', partnerReference: 'order 7' }],
    more: false,
  });
  const shown = await runCli(env, 'registration', 'show', passReference!);
  expect([shown.code, shown.output]).toEqual([0, expect.stringContaining('confirmed')]);
  expect(shown.output).toMatch(/^price +0\.00$/m);
  const unknown = await runCli(env, 'registration', 'show', `${passReference!.slice(0, -10)}1000000000`);
  expect(unknown).toEqual({ code: 1, output: 'floodgate: no such registration\n' });
  const impossible = await runCli(env, 'registration', 'show', 'GALA-9999999999-1-5909379514');
  expect(impossible).toEqual({ code: 1, output: 'floodgate: no such registration\n' });
  const nobodys = await runCli(env, 'registration', 'list', String(given.gala.eventId), '999999');
  expect(nobodys).toEqual({ code: 1, output: 'floodgate: no such partner\n' });
  const beyond = await runCli(env, ...command, '--after', '999999999');
  expect(beyond).toEqual({
    code: 2,
    output:
      'floodgate: --after: the history does not reach this cursor; without it the list starts at the beginning\n',
  });
});
