import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { startProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'what other files left would change what is measured' });

// A reader that is slow in real time. reconcile.test.ts tests that long lists are whole.

const failureOf = (found: number) => `floodgate: not balanced: ${found} found\n`;

const addEmptyBatches = (count: number) =>
  sql`
    insert into batches (id, size, first_serial, last_serial, relay_at)
    select gen_random_uuid(), 1, 1, 1, now() from generate_series(1, ${count}::integer)`.execute(
    given.database.db,
  );

test('what is said is said to its end, however slowly it is read', async () => {
  const found = 20_000;
  await addEmptyBatches(found);
  const command = startProcess('cli', { DATABASE_URL: given.database.url }, ['reconcile', '--json']);
  command.child.stdout!.pause();
  await waitUntil('the command has done its work', () => command.output().includes(failureOf(found)));
  // Longer than the command waits for anything except its reader.
  await delay(1_000);
  command.child.stdout!.resume();
  expect(await command.exited).toBe(1);
  const document = command.output().replace(failureOf(found), '');
  expect((JSON.parse(document) as { differences: unknown[] }).differences).toHaveLength(found);
});
