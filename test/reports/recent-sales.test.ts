import { COMMAND_LINE } from '@floodgate/operators';
import { reportOperations } from '@floodgate/reports/console';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';

const { test, given } = databaseTest({ own: 'its sales are those of the whole shard' });

const MOST_COUNTED = 20_000;

/** Stores sold seats of a ticket, evenly over the time from one instant to the other, in the order of their serials. */
const sellBetween = (
  { shardId, partnerId, eventId }: Fixture,
  ticketId: number,
  seats: number,
  from: Date,
  until: Date,
) =>
  sql`
    insert into registrations (
      batch_id, shard_id, partner_id, event_id, ticket_id, position, pass_code, full_name, email_address, reserved_at
    )
    select gen_random_uuid(), ${shardId}::integer, ${partnerId}::integer, ${eventId}::integer, ${ticketId}::integer,
      0, 1, 'Jane Doe', 'jane@example.com', ${from}::timestamptz + (${until}::timestamptz - ${from}::timestamptz) * n / ${seats}
    from generate_series(1, ${seats}) n`.execute(given.db);

const read = ({ eventId }: Fixture) =>
  reportOperations.reportRecentSales(given.db, { eventId }, COMMAND_LINE);
const sumOf = (hours: readonly { sold: number }[]) => hours.reduce((sum, { sold }) => sum + sold, 0);

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

test('the sales of the last 24 hours are exact while they are few, and estimated if they are many', async () => {
  const [gala, other] = [await createFixture(given.db), await createFixture(given.db)];
  expect(await read(gala)).toMatchObject({ isEstimate: false, hours: [] });
  const [standing, seat] = [await gala.addTicket(), await gala.addTicket()];
  await sellBetween(gala, standing, 700, hoursAgo(90), hoursAgo(30));
  await sellBetween(other, await other.addTicket(), 100, hoursAgo(20), hoursAgo(19));
  await sellBetween(gala, standing, 60, hoursAgo(10.5), hoursAgo(10.4));
  await sellBetween(gala, seat, 40, hoursAgo(3.5), hoursAgo(3.4));
  const few = await read(gala);
  expect(few.isEstimate).toBe(false);
  expect(sumOf(few.hours.filter(({ ticketId }) => ticketId === standing))).toBe(60);
  expect(sumOf(few.hours.filter(({ ticketId }) => ticketId === seat))).toBe(40);
  // Open and ended holds are no sales, and a changed attendee is none either.
  await sql`
    update registrations set held_until = now() where serial in (
      select serial from registrations where ticket_id = ${seat} order by serial limit 5
    )`.execute(given.db);
  await sql`
    update registrations set seat = serial - 1 where serial in (
      select serial from registrations where ticket_id = ${seat} order by serial desc limit 5
    )`.execute(given.db);
  expect(sumOf((await read(gala)).hours)).toBe(90);
  const many = 2 * MOST_COUNTED;
  await sellBetween(gala, standing, many, hoursAgo(2), hoursAgo(0));
  const estimate = await read(gala);
  expect(estimate.isEstimate).toBe(true);
  expect(Math.abs(sumOf(estimate.hours) - many - 90) / many).toBeLessThan(0.05);
  const ofOther = sumOf((await read(other)).hours);
  expect(Math.abs(ofOther - 100)).toBeLessThan(100);
});
