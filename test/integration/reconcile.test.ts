import { readBacklog, reconcile, redriveBatches } from '@floodgate/database';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { runCli } from '../harness/service-process.ts';

const TWO_HOURS_MS = 7_200_000;

let database: TestDatabase;
let fixture: Fixture;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = await createFixture(database.db);
});
afterAll(() => database.drop());

beforeEach(async () => {
  await sql`truncate batches, registrations`.execute(database.db);
  await sql`update tickets set taken = 0`.execute(database.db);
});

/** Commits a batch as if that had been two hours ago. */
async function commitLongAgo(): Promise<string> {
  const { batchId } = await commitBatch(database.db, fixture);
  await sql`
    update batches set created_at = now() - interval '2 h', pending_since = now() - interval '2 h'`.execute(
    database.db,
  );
  return batchId;
}

test('a batch that nobody finalizes is forgotten', async () => {
  const batchId = await commitLongAgo();
  expect(await reconcile(database.db)).toEqual([
    { subject: `batch ${batchId}`, problem: expect.stringMatching(/^has been pending since /) as string },
  ]);
});

test('a batch that was redriven has not waited yet', async () => {
  const batchId = await commitLongAgo();
  await sql`update batches set state = 'failed', finished_at = now()`.execute(database.db);
  await redriveBatches(database.db, { batchId, limit: 1 });
  expect(await reconcile(database.db)).toEqual([]);
  const { pendingBatches, oldestPendingMs } = await readBacklog(database.db);
  expect(pendingBatches).toBe(1);
  expect(oldestPendingMs).toBeLessThan(TWO_HOURS_MS);
});

test('any number of differences is counted: the list is cut, the JSON is whole', async () => {
  const found = 250_000;
  await sql`
    insert into batches (id, size, first_serial, last_serial, relay_at)
    select gen_random_uuid(), 1, 1, 1, now() from generate_series(1, ${found})`.execute(database.db);
  const list = await runReconcile();
  expect(list.trimEnd().split('\n').slice(100)).toEqual([
    expect.stringMatching(/^batch .* should have 1 registrations, but has 0$/),
    '… and 249900 more; --json lists them all',
  ]);
  const { balanced, differences } = JSON.parse(await runReconcile('--json')) as {
    balanced: boolean;
    differences: unknown[];
  };
  expect({ balanced, listed: differences.length }).toEqual({ balanced: false, listed: found });

  /** Its standard output. That of errors may come anywhere in between. */
  async function runReconcile(...args: string[]): Promise<string> {
    const { code, output } = await runCli({ DATABASE_URL: database.url }, 'reconcile', ...args);
    const failure = `floodgate: not balanced: ${found} found\n`;
    expect([code, output.includes(failure)]).toEqual([1, true]);
    return output.replace(failure, '');
  }
});
