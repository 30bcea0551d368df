import { sql } from 'kysely';
import { beforeEach, expect, onTestFinished } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, enable, startMails, waitForState } from './mail-process.ts';
import { databaseTest } from '../harness/database-test.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

// What delivery processes and events share.

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
});

async function eventWith(count: number, name: string): Promise<Fixture> {
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket({ capacity: 100_000 });
  await confirm(given.database.db, fixture, ticketId, addresses(count, name));
  return fixture;
}

/** Returns a function that reads how many permits were drawn, by second. */
async function recordDraws() {
  await sql`create table draws (epoch_second bigint primary key, drawn integer)`.execute(given.database.db);
  await sql`
    create function record_draw() returns trigger language plpgsql security definer as $$
    begin
      insert into draws values (new.epoch_second, new.drawn)
      on conflict (epoch_second) do update set drawn = greatest(draws.drawn, excluded.drawn);
      return null;
    end $$`.execute(given.database.db);
  await sql`
    create trigger record_draw after insert or update on mail_rate_windows
    for each row execute function record_draw()`.execute(given.database.db);
  onTestFinished(async () => {
    await sql`drop trigger record_draw on mail_rate_windows`.execute(given.database.db);
    await sql`drop table draws`.execute(given.database.db);
  });
  return async () => {
    const { rows } = await sql<{ drawn: number }>`select drawn from draws`.execute(given.database.db);
    return rows.map(({ drawn }) => drawn);
  };
}

test('two processes take the permits for their e-mails from one counter, if there is a limit', async () => {
  const server = await startMailServer();
  const [perSecond, count] = [20, 25];
  // An event for each process: one is sent by one of them.
  const events = [await eventWith(count, 'one'), await eventWith(count, 'two')];
  const drawn = await recordDraws();
  const env = { SMTP_URL: server.url, MAIL_PER_SECOND: String(perSecond) };
  const processes = await Promise.all([startMails(given.database, env), startMails(given.database, env)]);
  for (const event of events) await enable(given.database.db, event);
  for (const event of events) await waitForState(given.database.db, event, 'sent', count);
  expect(server.mails).toHaveLength(2 * count);
  // A process that the counter does not answer in time goes on alone, and says so. This happens on a machine
  // that stands still.
  const isShared = processes.every((one) => !one.output().includes('rate limits are not shared'));
  const permitted = (await drawn()).reduce((sum, permits) => sum + Math.min(permits, perSecond), 0);
  expect(isShared ? permitted : Infinity).toBeGreaterThanOrEqual(2 * count);
  expect(permitted).toBeGreaterThan(0);
});

test('events take turns: who has little to send does not wait for who has much', async () => {
  const server = await startMailServer();
  const large = await eventWith(4_000, 'large');
  const small = await eventWith(3, 'small');
  const { promise: isEnabled, resolve: go } = Promise.withResolvers<undefined>();
  /** How many e-mails of the large event were sent before each of the small one. */
  const before: number[] = [];
  let ofLarge = 0;
  server.onMessage = ({ to }) => {
    if (to.startsWith('small')) before.push(ofLarge);
    else if ((ofLarge += 1) > 100) return isEnabled;
    return undefined;
  };
  await enable(given.database.db, large);
  await startMails(given.database, { SMTP_URL: server.url });
  await waitUntil('the large one is being sent', () => ofLarge > 100);
  await enable(given.database.db, small);
  go(undefined);
  await waitForState(given.database.db, small, 'sent', 3);
  await waitForState(given.database.db, large, 'sent', 4_000);
  expect(server.mails).toHaveLength(4_003);
  expect(before).toHaveLength(3);
  expect(Math.max(...before)).toBeLessThan(2_000);
});
