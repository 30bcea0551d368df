import { perform } from '@floodgate/audit';
import { formatPassReference } from '@floodgate/contract';
import { replaceAttendeeAction } from '@floodgate/registrations/actions';
import { countInWindows, type Window } from '@floodgate/reports/windows';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { sell } from '../harness/sold.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 100 });

/** Counts the seats of the event in windows of two serials. Returns its windows, which grow while it counts. */
function countSeats(clock: ManualClock) {
  const { db, gala } = given;
  const windows: Window[] = [];
  const counting = countInWindows(
    db,
    gala.shardId,
    (window) => {
      windows.push(window);
      return sql`
        select json_build_object('ticket', ticket_id)::text as group, array[count(*)::integer] as counts
        from registrations
        where shard_id = ${gala.shardId} and event_id = ${gala.eventId} and replaced_by is null
          and serial > ${window.after} and serial <= ${window.upTo}
        group by ticket_id`;
    },
    { size: 2, clock },
  );
  return { windows, counting };
}

async function changeAttendee(serial: number) {
  const { db, gala } = given;
  const { rows } = await sql<{ passCode: number }>`
    select pass_code as "passCode" from registrations
    where shard_id = ${gala.shardId} and serial = ${serial}`.execute(db);
  const { eventId, passPrefix: prefix } = gala;
  const passReference = formatPassReference({ prefix, eventId, serial, passCode: rows[0]!.passCode });
  const someone = { fullName: 'Eve Later', emailAddress: 'eve@example.com' };
  await perform(db, replaceAttendeeAction, { passReference, ...someone }, 'test');
}

test('beside a sale, a report pauses after each window, and counts seats as of one moment', async () => {
  const { db, gala, ticketId } = given;
  const [first] = await sell(db, gala, ticketId, 5);
  const clock = new ManualClock();
  const { windows, counting } = countSeats(clock);
  for (const count of [1, 2, 3]) {
    await waitUntil('the report pauses', () => clock.pending === 1);
    expect(windows).toHaveLength(count);
    // Its new registration is in a later window. The report must not count the seat again.
    if (count === 1) await changeAttendee(first!);
    await clock.advance(1);
  }
  expect(JSON.parse(await counting)).toEqual([{ ticket: ticketId, counts: [5] }]);
});

test('without a sale, a report reads everything at once', async () => {
  const { db, gala, ticketId } = given;
  await sell(db, gala, ticketId, 5);
  await finalizePending(db, gala.shardId);
  const clock = new ManualClock();
  const { windows, counting } = countSeats(clock);
  expect(JSON.parse(await counting)).toEqual([{ ticket: ticketId, counts: [5] }]);
  expect(windows).toHaveLength(1);
  expect(clock.pending).toBe(0);
});
