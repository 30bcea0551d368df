import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { addresses, confirm, enable, startMails, waitForState } from './mail-process.ts';
import { databaseTest } from '../harness/database-test.ts';

const { test, given } = databaseTest({ own: 'what other files left would change what is measured' });

// The rate of delivery processes in real seconds. packages/database/src/limits/quota-lease.test.ts tests the rule.

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
});

async function eventWith(count: number, name: string): Promise<Fixture> {
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket({ capacity: 100_000 });
  await confirm(given.database.db, fixture, ticketId, addresses(count, name));
  return fixture;
}

test('two processes together send no more than MAIL_PER_SECOND in any second', async () => {
  const server = await startMailServer();
  const [perSecond, count] = [20, 50];
  // An event for each process: one is sent by one of them.
  const events = [await eventWith(count, 'one'), await eventWith(count, 'two')];
  const seconds: number[] = [];
  const { rows } = await sql<{ aheadMs: number }>`
    select extract(epoch from clock_timestamp()) * 1000 - ${Date.now()}::double precision as "aheadMs"`.execute(
    given.database.db,
  );
  // By Postgres's clock, which counts.
  server.onMessage = () => void seconds.push(Math.floor((Date.now() + rows[0]!.aheadMs) / 1_000));
  const env = { SMTP_URL: server.url, MAIL_PER_SECOND: String(perSecond) };
  await Promise.all([startMails(given.database, env), startMails(given.database, env)]);
  for (const event of events) await enable(given.database.db, event);
  for (const event of events) await waitForState(given.database.db, event, 'sent', count);
  expect(server.mails).toHaveLength(2 * count);
  // What was permitted in a second may arrive later, and never earlier. The first may have been permitted in
  // the second before.
  const permitted = seconds.map((second) => (second - seconds[0]! + 2) * perSecond);
  seconds.forEach((_, index) => expect(index + 1).toBeLessThanOrEqual(permitted[index]!));
});
