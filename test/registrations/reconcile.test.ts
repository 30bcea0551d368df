import { perform } from '@floodgate/audit';
import { moveEventAction } from '@floodgate/events/actions';
import { readBacklog, reconcile, redriveBatches } from '@floodgate/registrations';
import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { bookedIn } from '../harness/booked-in.ts';
import { commitBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'counts, empties or compares whole tables' });

const TWO_HOURS_MS = 7_200_000;

/** Returns the subject as reconcile names it: with its shard, if there are several. */
const at = (subject: string) => bookedIn(given.gala.shardId, subject);

beforeEach(async () => {
  await sql`truncate batches, registrations, idempotency_keys, held_seats`.execute(given.database.db);
  await sql`update tickets set taken = 0`.execute(given.database.db);
});

/** Commits a batch and makes it two hours old. */
async function commitLongAgo(): Promise<string> {
  const { batchId } = await commitBatch(given.database.db, given.gala);
  await sql`
    update batches set created_at = now() - interval '2 h', pending_since = now() - interval '2 h'`.execute(
    given.database.db,
  );
  return batchId;
}

/** Commits two batches of one registration each. Returns the serials. */
async function commitTwo(): Promise<[number, number]> {
  const [first, second] = [
    await commitBatch(given.database.db, given.gala),
    await commitBatch(given.database.db, given.gala),
  ];
  return [first.serial, second.serial];
}

test('a batch that nobody finalizes is forgotten', async () => {
  const batchId = await commitLongAgo();
  expect(await reconcile(given.database.db)).toEqual([
    { subject: at(`batch ${batchId}`), problem: expect.stringMatching(/^has been pending since /) as string },
  ]);
});

test('a batch that was redriven has not waited yet', async () => {
  const batchId = await commitLongAgo();
  await sql`update batches set state = 'failed', finished_at = now()`.execute(given.database.db);
  await redriveBatches(given.database.db, { shardId: given.gala.shardId, batchIds: [batchId], limit: 1 });
  expect(await reconcile(given.database.db)).toEqual([]);
  const { pendingBatches, oldestPendingMs } = await readBacklog(given.database.db);
  expect(pendingBatches).toBe(1);
  expect(oldestPendingMs).toBeLessThan(TWO_HOURS_MS);
});

test('a partner holds as many seats as are counted', async () => {
  await sql`
    insert into held_seats (shard_id, ticket_id, partner_id, seats)
    values (${given.gala.shardId}, 1, ${given.gala.partnerId}, 3)`.execute(given.database.db);
  expect(await reconcile(given.database.db)).toEqual([
    {
      subject: at(`partner ${given.gala.partnerId}`),
      problem: 'holds 0 seats of ticket 1, but 3 are counted',
    },
  ]);
});

test('a seat that was given back is held by nobody', async () => {
  await commitBatch(given.database.db, given.gala);
  await sql`
    update registrations set cancelled_at = now()`.execute(given.database.db);
  await sql`update tickets set taken = taken - 1 where taken > 0`.execute(given.database.db);
  expect(await reconcile(given.database.db)).toEqual([]);
});

test('registrations without a batch, or on a ticket that is not there, are named', async () => {
  const { batchId } = await commitBatch(given.database.db, given.gala);
  await sql`delete from batches`.execute(given.database.db);
  await sql`update tickets set taken = 0`.execute(given.database.db);
  await sql`update registrations set ticket_id = 0`.execute(given.database.db);
  expect(await reconcile(given.database.db)).toEqual([
    { subject: at(`batch ${batchId}`), problem: 'has 1 registrations, but there is no such batch' },
    { subject: at('ticket 0'), problem: 'holds 1 seats, but there is no such ticket' },
  ]);
});

test.for([
  ['event', 0, 'its event 0 does not exist'],
  ['partner', 0, 'its partner 0 does not exist'],
] as const)('a registration whose %s does not exist is named', async ([what, id, problem]) => {
  const [damaged] = await commitTwo();
  await sql`update registrations set ${sql.ref(`${what}_id`)} = ${id} where serial = ${damaged}`.execute(
    given.database.db,
  );
  expect(await reconcile(given.database.db)).toEqual([{ subject: at(`registration ${damaged}`), problem }]);
});

test("a registration whose ticket is another event's is named, cancelled or not", async () => {
  const elsewhere = await createFixture(given.database.db);
  const move = { eventId: elsewhere.eventId, shardId: given.gala.shardId };
  await perform(given.database.db, moveEventAction, move, 'test');
  const [first, second] = await commitTwo();
  const ticketId = await elsewhere.addTicket();
  await sql`update registrations set ticket_id = ${ticketId}`.execute(given.database.db);
  await sql`
    update registrations set cancelled_at = now() where serial = ${first}`.execute(given.database.db);
  await sql`update tickets set taken = (id = ${ticketId})::integer`.execute(given.database.db);
  const problem = `it is for event ${given.gala.eventId}, but its ticket ${ticketId} belongs to event ${elsewhere.eventId}`;
  const subjects = [`registration ${first}`, `registration ${second}`].map(at).toSorted();
  expect(await reconcile(given.database.db)).toEqual(subjects.map((subject) => ({ subject, problem })));
});

test.for(['first_serial', 'last_serial'])(
  'a batch whose %s is not that of its registrations is named',
  async (column) => {
    const { batchId, serial } = await commitBatch(given.database.db, given.gala);
    await sql`update batches set ${sql.ref(column)} = 0`.execute(given.database.db);
    const says = column === 'first_serial' ? `0 to ${serial}` : `${serial} to 0`;
    expect(await reconcile(given.database.db)).toEqual([
      { subject: at(`batch ${batchId}`), problem: `says serials ${says}, but has ${serial} to ${serial}` },
    ]);
  },
);

test('an idempotency key that remembers no registration, or that of another, is named', async () => {
  const { partnerId, eventId } = given.gala;
  const [serial] = await commitTwo();
  const remember = (key: string, outcome: string, of: number | null, event = eventId) =>
    sql`
      insert into idempotency_keys (shard_id, partner_id, event_id, key, fingerprint, outcomes, serials)
      values (${given.gala.shardId}, ${partnerId}, ${event}, ${key}, gen_random_uuid(), ${[outcome]}, ${[of]}::bigint[])`.execute(
      given.database.db,
    );
  await remember('right', 'registered', serial);
  await remember('refused', 'sold-out', null);
  expect(await reconcile(given.database.db)).toEqual([]);
  await remember('elsewhere', 'registered', serial, 0);
  await remember('erased', 'registered', 0);
  await remember('nothing', 'registered', null);
  const subject = (key: string, event = eventId) =>
    at(`idempotency key "${key}" of partner ${partnerId}, event ${event}`);
  expect(await reconcile(given.database.db)).toEqual([
    {
      subject: subject('elsewhere', 0),
      problem: `remembers registration ${serial}, which belongs to partner ${partnerId}, event ${eventId}`,
    },
    { subject: subject('erased'), problem: 'remembers registration 0, which does not exist' },
    { subject: subject('nothing'), problem: 'remembers registration (none), which does not exist' },
  ]);
});

test('failed batches are mentioned and are no difference', async () => {
  await commitTwo();
  await sql`update batches set state = 'failed', finished_at = now()`.execute(given.database.db);
  const run = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'reconcile', ...args);
  expect(await run()).toEqual({
    code: 0,
    output: expect.stringMatching(
      /^balanced: .*\nfailed batches, which keep their seats: 2; see redrive\n$/,
    ) as string,
  });
  const { code, output } = await run('--json');
  expect([code, JSON.parse(output)]).toEqual([0, { balanced: true, differences: [], failedBatches: 2 }]);
});

test('a batch is forgotten after 15 minutes; one that has failed waits for an operator', async () => {
  const { batchId } = await commitBatch(given.database.db, given.gala);
  const becomes = (state: string, age: string) =>
    sql`
      update batches set state = ${state}::batch_state, pending_since = now() - ${age}::interval,
        created_at = now() - interval '2 h'`.execute(given.database.db);
  await becomes('pending', '14 min');
  expect(await reconcile(given.database.db)).toEqual([]);
  await becomes('pending', '15 min 1 s');
  expect(await reconcile(given.database.db)).toMatchObject([{ subject: at(`batch ${batchId}`) }]);
  await becomes('failed', '2 h');
  expect(await reconcile(given.database.db)).toEqual([]);
});

const failureOf = (found: number) => `floodgate: not balanced: ${found} found\n`;

const addEmptyBatches = (count: number) =>
  sql`
    insert into batches (id, size, first_serial, last_serial, relay_at)
    select gen_random_uuid(), 1, 1, 1, now() from generate_series(1, ${count}::integer)`.execute(
    given.database.db,
  );

test('any number of differences is counted: the list is cut, the JSON is whole', async () => {
  const found = 250_000;
  await addEmptyBatches(found);
  const list = await runReconcile();
  expect(list.trimEnd().split('\n').slice(100)).toEqual([
    expect.stringMatching(/^(shard 0: )?batch .* should have 1 registrations, but has 0$/),
    '… and 249900 more; --json lists them all',
  ]);
  const { balanced, differences } = JSON.parse(await runReconcile('--json')) as {
    balanced: boolean;
    differences: unknown[];
  };
  expect({ balanced, listed: differences.length }).toEqual({ balanced: false, listed: found });

  /** Returns the standard output of the command. Its standard error can be anywhere in between. */
  async function runReconcile(...args: string[]): Promise<string> {
    const { code, output } = await runCli({ DATABASE_URL: given.database.url }, 'reconcile', ...args);
    expect([code, output.includes(failureOf(found))]).toEqual([1, true]);
    return output.replace(failureOf(found), '');
  }
});
