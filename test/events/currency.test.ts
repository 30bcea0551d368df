import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { findEvent } from '@floodgate/events';
import { createEventAction, updateEventAction } from '@floodgate/events/actions';
import { changeRegistrations, reserveBatch } from '@floodgate/registrations';
import { createTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = eventTest();

test.override('ticket', { capacity: 10, price: 12.5 });

const setCurrency = (currency: string | null) =>
  perform(given.db, updateEventAction, { eventId: given.gala.eventId, currency }, 'test');
const setPrice = (price: number, ticketId = given.ticketId) =>
  perform(given.db, updateTicketAction, { ticketId, price }, 'test');
const addTicket = (price: number) =>
  perform(
    given.db,
    createTicketAction,
    { eventId: given.gala.eventId, title: 'Seat', capacity: 5, price },
    'test',
  );
const currencyOf = async () => (await findEvent(given.db, given.gala.eventId)).currency;

async function sell() {
  const [outcome] = await reserveBatch(given.db, randomUUID(), [reservationOf(given.gala, given.ticketId)]);
  if (outcome?.kind !== 'registered') throw new Error('no seat');
  return outcome;
}

const floodgate = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, ...args);

const CURRENCY_RULE =
  /^currency: the ISO 4217 code of a currency, such as EUR, or none; prices have .+ at most 2$/;

test.for(['eur', 'EURO', 'XQZ', '€', 'EU'])('%s is no currency', async (currency) => {
  await expect(setCurrency(currency)).rejects.toThrow(CURRENCY_RULE);
  const event = { name: 'Gala', passPrefix: 'GALA', duplicatePolicy: 'allow', currency } as const;
  await expect(perform(given.db, createEventAction, event, 'test')).rejects.toThrow(CURRENCY_RULE);
});

test('an event is created with a currency, which stays null without one', async () => {
  expect(await currencyOf()).toBeNull();
  const event = { name: 'Gala', passPrefix: 'GALA', duplicatePolicy: 'allow' } as const;
  expect(await perform(given.db, createEventAction, { ...event, currency: 'CHF' }, 'test')).toMatchObject({
    currency: 'CHF',
  });
});

test('a currency can change until something was sold, and then no more', async () => {
  for (const currency of ['EUR', 'USD', null, 'EUR']) {
    await setCurrency(currency);
    expect(await currencyOf()).toBe(currency);
  }
  // A seat that is free again was sold, too: its invoice has the currency.
  const seat = await sell();
  await changeRegistrations(given.db, given.gala.shardId, 'cancelled', [{ ...given.gala, ...seat }]);
  for (const currency of ['USD', null])
    await expect(setCurrency(currency)).rejects.toThrow(
      'the currency stays EUR, because the event has registrations',
    );
  await setCurrency('EUR');
  expect(await currencyOf()).toBe('EUR');
});

test('an event without a currency gets one after it was sold, if all prices that were paid fit', async () => {
  await sell();
  await expect(setCurrency('JPY')).rejects.toThrow(
    `prices in JPY have no decimals, but ticket ${given.ticketId} costs 12.50`,
  );
  await setPrice(12);
  await expect(setCurrency('JPY')).rejects.toThrow(
    `prices in JPY have no decimals, but ticket ${given.ticketId} did cost 12.50, and the event has registrations`,
  );
  await setCurrency('EUR');
  expect(await currencyOf()).toBe('EUR');
});

test('without registrations, only present prices must fit', async () => {
  await setPrice(12);
  await setCurrency('JPY');
  expect(await currencyOf()).toBe('JPY');
});

test('a sale that is not over yet keeps the currency', async () => {
  await setCurrency('EUR');
  const held = await holdTicket(given.db, given.ticketId);
  const selling = sell();
  await held.waiters(1);
  const changing = setCurrency('USD');
  const refused = expect(changing).rejects.toThrow('the currency stays EUR');
  await held.waiters(2);
  await held.release();
  await Promise.all([selling, refused]);
});

test.for([
  ['JPY', 12.5, /^price: an amount from 0 to 9999999999 without decimals, .+ because the event is in JPY$/],
  ['EUR', 12.505, /^price: an amount from 0 to 9999999999.99 with at most 2 decimals, such as 12.50$/],
  ['BHD', 12.505, /at most 2 decimals/],
  ['EUR', -1, /^price: an amount from 0/],
  ['EUR', 10_000_000_000, /^price: an amount from 0/],
] as const)('in %s, %d is no price', async ([currency, price, rule]) => {
  await setPrice(12);
  await setCurrency(currency);
  await expect(addTicket(price)).rejects.toThrow(rule);
  await expect(setPrice(price)).rejects.toThrow(rule);
});

test.for([
  ['JPY', 1200],
  ['EUR', 12.5],
  ['BHD', 12.55],
  [null, 12.55],
] as const)('in %s, %d is a price', async ([currency, price]) => {
  await setPrice(12);
  await setCurrency(currency);
  expect(await addTicket(price)).toMatchObject({ price });
  expect(await setPrice(price)).toMatchObject({ price });
});

test('the command shows the currency of events, and prices with the decimals of their currency', async () => {
  const { eventId } = given.gala;
  await setPrice(1200);
  expect(await floodgate('event', 'update', String(eventId), '--currency', 'YEN')).toMatchObject({
    code: 2,
    output: expect.stringContaining('--currency: the ISO 4217 code') as string,
  });
  const updated = await floodgate('event', 'update', String(eventId), '--currency', 'JPY', '--by', 'jane');
  expect(updated).toMatchObject({ code: 0, output: expect.stringMatching(/^currency +JPY$/m) as string });
  expect((await floodgate('event', 'list')).output).toMatch(new RegExp(`^ *${eventId} .* JPY `, 'm'));
  const wrong = await floodgate(
    'ticket',
    'update',
    String(given.ticketId),
    '--price',
    '12.5',
    '--by',
    'jane',
  );
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('--price: an amount') as string });
  await setPrice(1300);
  const { output } = await floodgate('ticket', 'prices', String(given.ticketId));
  expect(output).toMatch(/^the beginning +12\.50? +JPY$|^the beginning +1[23] +JPY$/m);
  expect(output).toMatch(/Z +1200 +JPY$/m);
  expect(output).toMatch(/Z +1300 +JPY$/m);
});

test.for(['12,50', '1e3', '12.505', '-1', '1.000,00', '99999999999'])(
  'the command refuses %s as a price',
  async (price) => {
    const { code, output } = await floodgate('ticket', 'update', String(given.ticketId), `--price=${price}`);
    expect(code).toBe(2);
    expect(output).toMatch(/--price/);
  },
);
