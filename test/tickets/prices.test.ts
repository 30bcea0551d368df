import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import {
  changeRegistrations,
  expireHolds,
  reconcile,
  replaceAttendee,
  reserveBatch,
  type Reservation,
} from '@floodgate/registrations';
import { findPrice } from '@floodgate/registrations/price';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { findTicket } from '@floodgate/tickets';
import { listPrices } from '@floodgate/tickets/prices';
import { joinWaitingLists, toJoin } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { bookedIn } from '../harness/booked-in.ts';
import { eventTest } from '../harness/event-test.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { CONTACT, changeSeats } from '../waiting-list/drawn-operations.ts';

const { test, given } = eventTest({ own: 'ends the holds of the whole shard' });

test.override('ticket', { capacity: 10, price: 10 });

interface Seat {
  serial: number;
  passCode: number;
}

const setPrice = (price: number, ticketId = given.ticketId) =>
  perform(given.db, updateTicketAction, { ticketId, price }, 'test');

/** Sells one seat. Returns it. */
async function sell(differing: Partial<Reservation> = {}): Promise<Seat> {
  const [outcome] = await reserveBatch(given.db, randomUUID(), [
    reservationOf(given.gala, given.ticketId, differing),
  ]);
  if (outcome?.kind !== 'registered') throw new Error('no seat');
  return outcome;
}

const priceOf = ({ serial }: Seat) => findPrice(given.db, given.gala, serial);

const cancel = (seat: Seat) =>
  changeRegistrations(given.db, given.gala.shardId, 'cancelled', [{ ...given.gala, ...seat }], {
    holdSharePercent: 100,
  });

async function replace(seat: Seat, name: string): Promise<Seat> {
  const named = {
    ...given.gala,
    ...seat,
    attendee: { fullName: name, emailAddress: 'new@example.com' },
    attendeeDigest: null,
  };
  const { replaced } = await replaceAttendee(given.db, given.gala.shardId, named);
  if (typeof replaced !== 'object' || replaced === null) throw new Error(`not replaced: ${replaced}`);
  return replaced;
}

const pricesOf = async (ticketId = given.ticketId) =>
  listPrices(given.db, await findTicket(given.db, ticketId));

/** What reconcile says about the ticket of the test. */
const differences = async () => {
  const subject = bookedIn(given.gala.shardId, `ticket ${given.ticketId}`);
  return (await reconcile(given.db)).filter((one) => one.subject === subject).map(({ problem }) => problem);
};

test('a registration keeps the price at which it was sold', async () => {
  const first = await sell();
  await setPrice(12.5);
  const second = await sell();
  await setPrice(9.99);
  const third = await sell();
  await cancel(second);
  expect(await Promise.all([first, second, third].map(priceOf))).toEqual([10, 12.5, 9.99]);
  expect(await differences()).toEqual([]);
});

test('the prices of a ticket are listed since when they are valid; the same price again adds none', async () => {
  await setPrice(12.5);
  await setPrice(12.5);
  await perform(given.db, updateTicketAction, { ticketId: given.ticketId, capacity: 11 }, 'test');
  await setPrice(10);
  expect(await pricesOf()).toEqual([
    { validFrom: null, price: 10 },
    { validFrom: expect.any(Date) as Date, price: 12.5 },
    { validFrom: expect.any(Date) as Date, price: 10 },
  ]);
});

test('a hold that is confirmed later has the price at which its seat was held', async () => {
  const held = await sell({ holdSeconds: 600 });
  await setPrice(12.5);
  const named = { ...given.gala, ...held };
  expect(await changeRegistrations(given.db, given.gala.shardId, 'confirmed', [named])).toEqual([
    'confirmed',
  ]);
  await setPrice(15);
  expect(await priceOf(held)).toBe(10);
});

test('an offer that is accepted later has the price at which it was made', async () => {
  await given.useTicket({ capacity: 1, price: 10, offerHours: 24 });
  const sold = await sell();
  const call = toJoin(given.gala, { organizedEventTicketID: given.ticketId, contact: CONTACT }, null);
  const [joined] = await joinWaitingLists(given.db, given.gala.shardId, [call], 10_000, 100);
  await setPrice(12.5);
  await cancel(sold);
  await setPrice(15);
  const { rows } = await sql<Seat>`
    select serial, pass_code as "passCode" from registrations
    where shard_id = ${given.gala.shardId} and hold_id = ${joined!.id}::uuid`.execute(given.db);
  const { serial } = rows[0]!;
  expect(await changeSeats(given.db, given.gala.shardId, 'confirmed', joined!.id, [serial])).toBe(
    'confirmed',
  );
  expect(await Promise.all([sold, rows[0]!].map(priceOf))).toEqual([10, 12.5]);
});

test('an offer after an expired hold has the price of the day it was made', async () => {
  await given.useTicket({ capacity: 1, price: 10, offerHours: 24 });
  await sell({ holdSeconds: 600 });
  const call = toJoin(given.gala, { organizedEventTicketID: given.ticketId, contact: CONTACT }, null);
  const [joined] = await joinWaitingLists(given.db, given.gala.shardId, [call], 10_000, 100);
  await endHolds(given.db, given.gala);
  await setPrice(12.5);
  await expireHolds(given.db, given.gala.shardId, 10, 100);
  const { rows } = await sql<Seat>`
    select serial from registrations
    where shard_id = ${given.gala.shardId} and hold_id = ${joined!.id}::uuid`.execute(given.db);
  expect(await priceOf(rows[0]!)).toBe(12.5);
});

test('a changed attendee has the price of the seat, however often it changes', async () => {
  const chain = [await sell()];
  for (const price of [12.5, 15, 17.5]) {
    await setPrice(price);
    chain.push(await replace(chain.at(-1)!, `Attendee at ${price}`));
  }
  expect(await Promise.all(chain.map(priceOf))).toEqual([10, 10, 10, 10]);
  expect(await differences()).toEqual([]);
});

test('a call that waited for the ticket while its price changed pays the price that it saw', async () => {
  const held = await holdTicket(given.db, given.ticketId);
  const changing = setPrice(12.5);
  await held.waiters(1);
  // The first in line is the change.
  const buying = [sell(), sell()];
  await held.waiters(3);
  await held.release();
  await changing;
  const seats = await Promise.all(buying);
  expect(await Promise.all(seats.map(priceOf))).toEqual([10, 10]);
  expect(await priceOf(await sell())).toBe(12.5);
});

test('a clock that was set back changes no price of what was sold', async () => {
  const sold = await sell();
  // As if the clock of the server had been an hour ahead.
  const ahead = new Date(Date.now() + 3_600_000);
  await sql`
    update registrations set reserved_at = ${ahead}
    where shard_id = ${given.gala.shardId} and serial = ${sold.serial}`.execute(given.db);
  await setPrice(12.5);
  await setPrice(15);
  expect(await priceOf(sold)).toBe(10);
  const [, second, third] = await pricesOf();
  expect(+second!.validFrom!).toBeGreaterThanOrEqual(+ahead);
  expect(+third!.validFrom!).toBeGreaterThanOrEqual(+second!.validFrom!);
});

test('reconcile names a ticket whose registrations have no price', async () => {
  const deletePrice = (validFrom: string) =>
    sql`
      delete from ticket_prices
      where shard_id = ${given.gala.shardId} and ticket_id = ${given.ticketId} and ${sql.raw(validFrom)}`.execute(
      given.db,
    );
  await sell();
  await setPrice(12.5);
  const seat = await sell();
  expect(await differences()).toEqual([]);
  await deletePrice(`valid_from = '-infinity'`);
  expect(await differences()).toEqual([
    expect.stringMatching(/^its first price is valid from .+, so registrations before it have no price$/),
  ]);
  expect(await priceOf(seat)).toBe(12.5);
  await deletePrice('true');
  expect(await differences()).toEqual(['its registrations have no price']);
  expect(await priceOf(seat)).toBeNull();
});

test('reconcile names a ticket without a price, held and cancelled registrations included', async () => {
  await cancel(await sell());
  await sell({ holdSeconds: 600 });
  await sql`
    delete from ticket_prices where shard_id = ${given.gala.shardId} and ticket_id = ${given.ticketId}`.execute(
    given.db,
  );
  expect(await differences()).toEqual(['its registrations have no price']);
  await given.useTicket({ price: 10 });
  await sql`
    delete from ticket_prices where shard_id = ${given.gala.shardId} and ticket_id = ${given.ticketId}`.execute(
    given.db,
  );
  expect(await differences()).toEqual(['has no price for the registrations to come']);
});

test('a price that was changed without its history is named, and setting it again mends it', async () => {
  await sql`
    update tickets set price = 12.5
    where shard_id = ${given.gala.shardId} and id = ${given.ticketId}`.execute(given.db);
  expect(await differences()).toEqual(['costs 12.50, but its registrations have the price 10.00']);
  const before = await sell();
  await setPrice(12.5);
  expect(await differences()).toEqual([]);
  expect(await Promise.all([before, await sell()].map(priceOf))).toEqual([10, 12.5]);
});
