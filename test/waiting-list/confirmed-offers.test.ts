import { randomUUID } from 'node:crypto';
import { formatPassReference, parsePassReference } from '@floodgate/contract';
import { changeRegistrations, reserveBatch } from '@floodgate/registrations';
import { findEntry, leaveWaitingList, serveWaitingLists } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';
import { reservationOf } from '../harness/reservation.ts';
import { changeSeats, CONTACT, LOCK_WITHIN_MS, openSeatsOf, type Seat } from './drawn-operations.ts';

const { test, given } = databaseTest({ own: 'draws operations, and compares whole tables' });

test('an offer that is confirmed while its partner leaves is kept', async () => {
  const { db } = given.database;
  const owner = await createFixture(db);
  const { shardId } = owner;
  const ticketId = await owner.addTicket({ capacity: 1, offerHours: 1 });
  const [sold] = await reserveBatch(db, randomUUID(), [reservationOf(owner, ticketId)]);
  const wanted = { organizedEventTicketID: ticketId, contact: CONTACT };
  const joined = await joinWaitingList(db, owner, wanted, null, LOCK_WITHIN_MS);
  const { id } = joined as { id: string };
  await changeRegistrations(db, shardId, 'cancelled', [{ ...owner, ...(sold as unknown as Seat) }], {
    holdSharePercent: 100,
  });
  const [seat] = await openSeatsOf(db, shardId, id);
  const confirming = await db.startTransaction().execute();
  expect(await changeSeats(confirming, shardId, 'confirmed', id, [seat!.serial])).toBe('confirmed');
  const leaving = leaveWaitingList(db, owner, id, LOCK_WITHIN_MS);
  await waitForLockWaiters(db, 1);
  await confirming.commit().execute();
  expect(await leaving).toBe(false);
  await finalizePending(db, shardId);
  expect((await findEntry(db, owner, id))?.state).toBe('confirmed');
  const live = sql`select from registrations where hold_id = ${id}::uuid and cancelled_at is null`;
  expect((await live.execute(db)).rows).toHaveLength(1);
});

test('the seats of offers have pass references as all others', async () => {
  const { db } = given.database;
  const owner = await createFixture(db);
  const { shardId, eventId, passPrefix: prefix } = owner;
  const ticketId = await owner.addTicket({ capacity: 200, offerHours: 1 });
  await reserveBatch(
    db,
    randomUUID(),
    Array.from({ length: 200 }, () => reservationOf(owner, ticketId)),
  );
  const wanted = { organizedEventTicketID: ticketId, seats: 10, contact: CONTACT };
  for (let entry = 0; entry < 20; entry += 1) await joinWaitingList(db, owner, wanted, null, LOCK_WITHIN_MS);
  await sql`update tickets set capacity = 400 where id = ${ticketId}`.execute(db);
  expect(await serveWaitingLists(db, shardId, 1_000, 100)).toBe(20);
  const seats = sql<{ serial: number; passCode: number }>`
    select serial, pass_code as "passCode" from registrations where ticket_id = ${ticketId} and hold_id is not null`;
  const { rows } = await seats.execute(db);
  expect(rows).toHaveLength(200);
  // One code in ten of ten random digits begins with a zero.
  for (const seat of rows)
    expect(parsePassReference(formatPassReference({ prefix, eventId, ...seat }))).toMatchObject(seat);
});
