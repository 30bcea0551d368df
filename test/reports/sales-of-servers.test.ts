import { COMMAND_LINE } from '@floodgate/operators';
import { reportOperations } from '@floodgate/reports/console';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';

const { test, given } = eventTest({ own: 'its sales are those of the whole shard' });

test.override('ticket', {});

const MOST_COUNTED = 20_000;

/** Stores seats that were sold evenly from some hours ago to others, with the serials of a server after one of them. */
const sellOn = (server: number, after: number, seats: number, from: number, until: number) => {
  const { shardId, partnerId, eventId } = given.gala;
  return sql`
    insert into registrations (
      serial, batch_id, shard_id, partner_id, event_id, ticket_id, position, pass_code, full_name, email_address,
      reserved_at
    )
    select (${server}::bigint << 48) + ${after}::integer + n, gen_random_uuid(), ${shardId}::integer,
      ${partnerId}::integer, ${eventId}::integer, ${given.ticketId}::integer, 0, 1, 'Jane Doe', 'jane@example.com',
      now() - make_interval(secs => 3600 * (${from}::float8 + (${until}::float8 - ${from}::float8) * n / ${seats}))
    from generate_series(1, ${seats}) n`.execute(given.db);
};

const read = () =>
  reportOperations.reportRecentSales(given.db, { eventId: given.gala.eventId }, COMMAND_LINE);
const sumOf = (hours: readonly { sold: number }[]) => hours.reduce((sum, { sold }) => sum + sold, 0);

test('an event whose shard was moved has the sales of each server, in whatever order their serials are', async () => {
  await sellOn(1, 0, 300, 40, 30);
  await sellOn(1, 300, 50, 20, 15);
  await sellOn(2, 0, 40, 14, 10);
  // Back again: later sales have lower serials, and one hour has sales of both.
  await sellOn(1, 350, 30, 10, 5);
  const { isEstimate, hours } = await read();
  expect(isEstimate).toBe(false);
  expect(sumOf(hours)).toBe(120);
  const times = hours.map(({ at }) => +at);
  expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
  const many = 2 * MOST_COUNTED;
  await sellOn(2, 40, many, 4, 1);
  const estimate = await read();
  expect(estimate.isEstimate).toBe(true);
  expect(Math.abs(sumOf(estimate.hours) - many - 120) / many).toBeLessThan(0.05);
});
