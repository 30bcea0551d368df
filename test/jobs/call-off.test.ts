import { randomUUID } from 'node:crypto';
import { readAuditLog } from '@floodgate/audit';
import { createTicketAction, resumeSalesAction, updateTicketAction } from '@floodgate/tickets/actions';
import { perform } from '@floodgate/audit';
import { HOUSE_PARTNER_ID } from '@floodgate/database';
import { findEvent, grantEvent } from '@floodgate/events';
import { updateEventAction } from '@floodgate/events/actions';
import { findJob } from '@floodgate/jobs';
import { jobOperations } from '@floodgate/jobs/console';
import { createPartner } from '@floodgate/partners';
import { expireHolds, reconcile, reserveBatch } from '@floodgate/registrations';
import { replaceAttendeeAction } from '@floodgate/registrations/actions';
import { passReferenceOf, findRegistrations } from '@floodgate/registrations';
import { serveWaitingLists } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { callerNamed } from '../harness/callers.ts';
import { createFixture } from '../harness/fixture.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending, journalOf, pendingBatches } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';
import { continueOnServer } from '../harness/serials-of-servers.ts';
import { runCli } from '../harness/service-process.ts';
import { sell } from '../harness/sold.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';
import { cancellationsOf, runJobs } from './running.ts';

const { test, given } = eventTest({ own: 'runs every job in the database' });

const ANN = callerNamed('Ann');
const { eventCallOff, eventCallOffPreview } = jobOperations;

const CONTACT = { fullName: 'Wendy Wait', emailAddress: 'wendy@example.com' };

/** An event with sold, failed and pending registrations, holds, a basket, an offer and waiting entries, of two partners. */
async function busyEvent() {
  const { db, gala } = given;
  const standing = await gala.addTicket({ title: 'Standing', capacity: 500 });
  const small = await gala.addTicket({ title: 'Small', capacity: 4, offerHours: 1 });
  const other = await createPartner(db, `partner ${randomUUID()}`);
  await grantEvent(db, other.id, gala.eventId);
  await sell(db, gala, standing, 120);
  await sell(db, { ...gala, partnerId: other.id }, standing, 30);
  const soldOut = await sell(db, gala, small, 4);
  await finalizePending(db, gala.shardId);
  await sell(db, gala, standing, 7);
  const { batchIds } = await pendingBatches(db, gala.shardId);
  await sql`select finalize_batches(${gala.shardId}, ${batchIds}::uuid[], '22021', 1000)`.execute(db);
  await sell(db, gala, standing, 5);
  await sell(db, gala, standing, 6, { holdSeconds: 600 });
  const holdId = randomUUID();
  const basket = { holdSeconds: 600, holdId, fullName: null, emailAddress: null } as const;
  const seats = [1, 2].map(() => reservationOf(gala, standing, basket as unknown as object));
  await reserveBatch(db, randomUUID(), seats);
  for (const seatsWanted of [1, 1, 2]) {
    const request = { organizedEventTicketID: small, seats: seatsWanted, contact: CONTACT };
    const { outcome } = await joinWaitingList(db, gala, request, null, 1_000);
    expect(outcome).toBe('joined');
  }
  // A seat becomes free, and is offered to the first entry.
  const [row] = await findRegistrations(db, [{ ...gala, serial: soldOut[0]! }]);
  await sql`
    select change_registrations(${gala.shardId}, 1000, 'cancelled', array[${row!.serial}]::bigint[],
      array[${gala.partnerId}]::integer[], array[${gala.eventId}]::integer[], array[${row!.passCode}]::bigint[], null, 20, true)`.execute(
    db,
  );
  await serveWaitingLists(db, gala.shardId, 10);
  return { standing, small, otherId: other.id };
}

/** What the worker does beside jobs. */
async function settle() {
  const { db, gala } = given;
  await serveWaitingLists(db, gala.shardId, 1_000);
  await runJobs(db);
  await expireHolds(db, gala.shardId, 1_000);
  await finalizePending(db, gala.shardId);
}

test('an event is called off while it is sold, also if the sale goes on with lower serials', async () => {
  const { db, gala } = given;
  const { eventId, shardId } = gala;
  const standing = await gala.addTicket();
  await continueOnServer(db, shardId, 2);
  await sell(db, gala, standing, 5);
  const { count, upTo } = await eventCallOffPreview(db, { eventId }, ANN);
  expect(count).toBe(5);
  await continueOnServer(db, shardId, 1);
  await sell(db, gala, standing, 3);
  const job = await eventCallOff(db, { eventId, expect: count, upTo }, ANN);
  expect(job).toMatchObject({ total: 8, cameSince: 3 });
  await settle();
  expect(await findJob(db, job.id)).toMatchObject({ state: 'done', done: 8, failed: 0 });
  expect(await reconcile(db)).toEqual([]);
});

test('calling off an event ends its sale, holds, offers and waiting entries, and cancels everything once', async () => {
  const { db, gala } = given;
  const { standing, small, otherId } = await busyEvent();
  const { eventId, shardId } = gala;
  const before = await eventCallOffPreview(db, { eventId }, ANN);
  // 120 + 7 failed + 5 pending, and 3 of the small ticket.
  expect(before).toMatchObject({ count: 165, held: 9, waiting: 2, ticketsOnSale: 2, calledOffAt: null });
  expect(before.seats).toMatchObject([
    { partnerId: gala.partnerId, ticketId: standing, ticket: 'Standing', sold: 132, held: 8 },
    { partnerId: gala.partnerId, ticketId: small, ticket: 'Small', sold: 3, held: 1 },
    { partnerId: otherId, ticketId: standing, ticket: 'Standing', sold: 30, held: 0 },
  ]);
  expect(before.refunds).toMatchObject([
    { partnerId: gala.partnerId, seats: 135 },
    { partnerId: otherId, partner: expect.stringMatching(/^partner /) as string, seats: 30 },
  ]);
  await expect(eventCallOff(db, { eventId, expect: 164 }, ANN)).rejects.toThrow(
    'had 164 registrations, and now there are 165',
  );
  expect((await findEvent(db, eventId)).calledOffAt).toBeNull();
  // Sold after the preview: cancelled, too.
  await sell(db, gala, standing, 2);
  const job = await eventCallOff(db, { eventId, expect: before.count, upTo: before.upTo }, ANN);
  expect(job).toMatchObject({ kind: 'call-off', isNew: true, cameSince: 2, wasCalledOffAt: null });
  expect(job.result).toMatchObject({ stoppedTickets: [standing, small], endedHolds: 9, endedEntries: 2 });
  await settle();
  const { total } = await findJob(db, job.id);
  expect(await findJob(db, job.id)).toMatchObject({ state: 'done', done: total, failed: 0 });
  const { rows } = await sql<{ open: number; taken: number; waiting: number }>`
    select (select count(*) from registrations where event_id = ${eventId} and cancelled_at is null) as open,
      (select sum(taken) from tickets where event_id = ${eventId}) as taken,
      (select count(*) from waiting_entries where event_id = ${eventId} and state in ('waiting', 'offered')) as waiting`.execute(
    db,
  );
  expect(rows).toEqual([{ open: 0, taken: 0, waiting: 0 }]);
  expect([...new Set((await cancellationsOf(db, gala)).values())]).toEqual([1]);
  const entries = await journalOf(db, gala);
  expect(entries.filter(({ kind }) => kind === 'waiting.expired')).toHaveLength(3);
  expect(await reconcile(db)).toEqual([]);
  const [audited] = await readAuditLog(db, {
    subject: `event:${eventId}`,
    action: 'event.call-off',
    limit: 1,
  });
  expect(audited!.after).toMatchObject({ calledOff: true, endedHolds: 9, endedEntries: 2 });
  expect(shardId).toBe(gala.shardId);
});

test('the preview and the result say what is to be paid back, by partner and by the prices of the sale', async () => {
  const { db, database, gala } = given;
  const { eventId } = gala;
  await perform(db, updateEventAction, { eventId, currency: 'EUR' }, 'Ann');
  const ticketId = await gala.addTicket({ price: 0.1, capacity: 500 });
  const other = { ...gala, partnerId: (await createPartner(db, `Northwind ${randomUUID()}`)).id };
  await sell(db, gala, ticketId, 3);
  await sell(db, other, ticketId, 1);
  await perform(db, updateTicketAction, { ticketId, price: 20.2 }, 'Ann');
  await sell(db, gala, ticketId, 2);
  // A hold that is confirmed later has the price of its beginning. One that is open is not paid.
  await sell(db, gala, ticketId, 1, { holdSeconds: 600 });
  const [cancelled] = await sell(db, gala, ticketId, 1);
  await sql`update registrations set cancelled_at = now() where serial = ${cancelled}`.execute(db);
  const refunds = [
    { partnerId: gala.partnerId, seats: 5, amount: 40.7 },
    {
      partnerId: other.partnerId,
      partner: expect.stringMatching(/^Northwind /) as string,
      seats: 1,
      amount: 0.1,
    },
  ];
  const preview = await eventCallOffPreview(db, { eventId }, ANN);
  expect(preview).toMatchObject({ currency: 'EUR', refunds });
  expect(preview.follows).toContain(
    'By the prices of the sale, 40.80 EUR is to be paid back to the customers of 2 partners.',
  );
  const args = ['event', 'call-off', '--event', String(eventId)];
  const { output } = await runCli({ DATABASE_URL: database.url }, ...args);
  expect(output).toMatch(/Northwind \S+ +1 +0\.10 EUR\n/);
  const job = await eventCallOff(db, { eventId, expect: 6 }, ANN);
  expect(job.result).toMatchObject({ currency: 'EUR', refunds });
  await sql`update registrations set cancelled_at = null where serial = ${cancelled}`.execute(db);
  await settle();
});

test('nobody paid for guests, so nothing is to be paid back for them', async () => {
  const { db, database, gala } = given;
  const { eventId } = gala;
  await perform(db, updateEventAction, { eventId, currency: 'EUR' }, 'Ann');
  const ticketId = await gala.addTicket({ price: 20, capacity: 500 });
  await sell(db, gala, ticketId, 2);
  await sell(db, { ...gala, partnerId: HOUSE_PARTNER_ID }, ticketId, 3);
  const preview = await eventCallOffPreview(db, { eventId }, ANN);
  const refunds = [
    { partnerId: gala.partnerId, isGuests: false, seats: 2, amount: 40 },
    { partnerId: HOUSE_PARTNER_ID, partner: 'House', isGuests: true, seats: 3, amount: 0 },
  ];
  expect(preview).toMatchObject({ refunds, seats: [{ amount: 40 }, { sold: 3, amount: 0 }] });
  expect(preview.follows.join(' ')).toMatch(
    /40\.00 EUR is to be paid back to the customers of partner \w+\. 3 seats of House are guests: nothing/,
  );
  const args = ['event', 'call-off', '--event', String(eventId)];
  const { output } = await runCli({ DATABASE_URL: database.url }, ...args);
  expect(output).toMatch(/House +3 +guests\n/);
  const job = await eventCallOff(db, { eventId, expect: 5 }, ANN);
  expect(job.result).toMatchObject({ refunds });
  await settle();
});

test('a called-off event sells nothing any more', async () => {
  const { db, gala } = given;
  const ticketId = await gala.addTicket();
  await sell(db, gala, ticketId, 3);
  const { eventId } = gala;
  await eventCallOff(db, { eventId, expect: 3 }, ANN);
  await expect(perform(db, updateTicketAction, { ticketId, active: true }, 'Ann')).rejects.toThrow(
    'called off',
  );
  await expect(perform(db, resumeSalesAction, { eventId }, 'Ann')).rejects.toThrow('called off');
  await expect(
    perform(db, createTicketAction, { eventId, title: 'New', capacity: 5 }, 'Ann'),
  ).rejects.toThrow('called off');
  const [outcome] = await reserveBatch(db, randomUUID(), [reservationOf(gala, ticketId)]);
  expect(outcome!.kind).not.toBe('registered');
  await settle();
});

test('an attendee who is changed while the job runs is cancelled, too', async () => {
  const { db, gala } = given;
  const ticketId = await gala.addTicket();
  const [serial] = await sell(db, gala, ticketId, 2);
  await finalizePending(db, gala.shardId);
  const { eventId } = gala;
  await eventCallOff(db, { eventId, expect: 2 }, ANN);
  const [row] = await findRegistrations(db, [{ ...gala, serial: serial! }]);
  const other = {
    passReference: passReferenceOf(row!),
    fullName: 'Ann Other',
    emailAddress: 'ann@example.com',
  };
  await perform(db, replaceAttendeeAction, other, 'Ann');
  await settle();
  const { rows } =
    await sql`select from registrations where event_id = ${eventId} and cancelled_at is null`.execute(db);
  expect(rows).toEqual([]);
  expect(await reconcile(db)).toEqual([]);
});

test('an event that is called off already says so', async () => {
  const { db, database, gala } = given;
  await sell(db, gala, await gala.addTicket(), 3);
  const event = String(gala.eventId);
  const run = (...args: string[]) =>
    runCli({ DATABASE_URL: database.url }, 'event', 'call-off', '--event', event, ...args);
  expect((await run()).output).toMatch(/3 registrations are cancelled[^]*--expect 3 --up-to/);
  expect(await run('--expect', '3')).toMatchObject({ code: 0 });
  const again = await run('--expect', '3');
  expect(again.output).toMatch(/The event was called off at [^]*This job was started before/);
  await settle();
  expect(await run('--expect', '0')).toMatchObject({
    code: 1,
    output: expect.stringMatching('was called off at .* no registration is left') as string,
  });
  expect((await run()).output).toMatch('called off already');
});

test('an event without registrations is called off, by a job with nothing to cancel', async () => {
  const { db, database, gala } = given;
  const ticketId = await gala.addTicket();
  const { eventId } = gala;
  const args = ['event', 'call-off', '--event', String(eventId), '--expect', '0'];
  const { code, output } = await runCli({ DATABASE_URL: database.url }, ...args);
  expect([code, output]).toEqual([0, expect.stringMatching(/^total +0$/m)]);
  const { calledOffAt } = await findEvent(db, eventId);
  expect(calledOffAt).toBeInstanceOf(Date);
  const again = await eventCallOff(db, { eventId, expect: 0 }, ANN);
  expect(again).toMatchObject({ isNew: false, total: 0, result: { stoppedTickets: [ticketId] } });
  await settle();
  expect(await findJob(db, again.id)).toMatchObject({ state: 'done', done: 0, failed: 0, total: 0 });
  await expect(eventCallOff(db, { eventId, expect: 0 }, ANN)).rejects.toThrow('no registration is left');
});

test('a test event says so, and is called off as well', async () => {
  const { db } = given;
  const rehearsal = await createFixture(db, 'allow', 'test');
  await sell(db, rehearsal, await rehearsal.addTicket(), 2);
  const { eventId } = rehearsal;
  const { follows, count } = await eventCallOffPreview(db, { eventId }, ANN);
  expect(follows.join('\n')).toMatch('This is a test event');
  await eventCallOff(db, { eventId, expect: count }, ANN);
  await settle();
  const { rows } =
    await sql`select from registrations where event_id = ${eventId} and cancelled_at is null`.execute(db);
  expect(rows).toEqual([]);
});
