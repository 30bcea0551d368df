import { perform, readAuditLog } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { archiveEventAction, restoreEventAction, updateEventAction } from '@floodgate/events/actions';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { countLockWaiters } from '../harness/lock-waiters.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'counts who waits for locks' });

const BY = 'tests';

/** Runs `first` in a transaction that stays open until `second` waits for it. Resolves to how `second` ended. */
async function overlap(first: (tx: Database) => Promise<unknown>, second: () => Promise<unknown>) {
  const transaction = await given.db.startTransaction().execute();
  await first(transaction);
  const ended = second().then(
    () => 'done',
    (error: Error) => error.message,
  );
  await waitUntil('the second waits', async () => (await countLockWaiters(given.db)) > 0);
  await transaction.commit().execute();
  return ended;
}

test('of two changes at once, the second has the first as its "before"', async () => {
  const { eventId } = await createFixture(given.db);
  const update = (db: Database, venue: string) => perform(db, updateEventAction, { eventId, venue }, BY);
  await overlap(
    (tx) => update(tx, 'Hall 1'),
    () => update(given.db, 'Hall 2'),
  );
  const entries = await readAuditLog(given.db, { subject: `event:${eventId}`, limit: 2 });
  expect(entries.map(({ before, after }) => [before?.['venue'], after?.['venue']])).toEqual([
    ['Hall 1', 'Hall 2'],
    [null, 'Hall 1'],
  ]);
});

test('an archived event has no ticket on sale, in whatever order both are changed at once', async () => {
  const fixture = await createFixture(given.db);
  const { eventId } = fixture;
  const ticketId = await fixture.addTicket({ active: false });
  const archive = (db: Database) => perform(db, archiveEventAction, { eventId }, BY);
  const putOnSale = (db: Database) => perform(db, updateTicketAction, { ticketId, active: true }, BY);
  expect(await overlap(putOnSale, () => archive(given.db))).toContain('are on sale');
  await perform(given.db, updateTicketAction, { ticketId, active: false }, BY);
  expect(await overlap(archive, () => putOnSale(given.db))).toContain('the event is archived');
});

test('a sale that has ended is not opened again under an archived event', async () => {
  const fixture = await createFixture(given.db);
  const [saleStartsAt, saleEndsAt] = [new Date('2026-01-01'), new Date('2026-01-02')];
  const ticketId = await fixture.addTicket({ saleStartsAt, saleEndsAt });
  await perform(given.db, archiveEventAction, { eventId: fixture.eventId }, BY);
  const reopen = () => perform(given.db, updateTicketAction, { ticketId, saleEndsAt: null }, BY);
  await expect(reopen()).rejects.toThrow('the event is archived');
  await perform(given.db, updateTicketAction, { ticketId, title: 'Other' }, BY);
  await perform(given.db, restoreEventAction, { eventId: fixture.eventId }, BY);
  await reopen();
});
