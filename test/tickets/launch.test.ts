import { perform } from '@floodgate/audit';
import { updateTicketAction } from '@floodgate/tickets/actions';
import type { LaunchState } from '@floodgate/contract';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { attendee } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest();

// How far the sale of an event is.

async function launch(): Promise<LaunchState> {
  const { body } = await given.partner.request('/api/v1/events/launch');
  expect(body).toMatchObject({ responseCode: '00', responseMessage: 'Successful' });
  return body.responseData as LaunchState;
}

const phaseIs = (phase: LaunchState['phase']) => async () => (await launch()).phase === phase;

test('an event without a ticket is closed', async () => {
  expect(await launch()).toEqual({
    phase: 'closed',
    opensAt: null,
    closesAt: null,
    serverTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/) as string,
    seatsLeft: 0,
  });
});

test('who registers as soon as it says open is never too early, though it was scheduled the moment before', async () => {
  const saleStartsAt = new Date(Date.now() + 3_000);
  const ticketId = await given.gala.addTicket({ saleStartsAt, capacity: 7 });
  const earliest = Date.now();
  const before = await launch();
  const latest = Date.now();
  expect(before).toMatchObject({ phase: 'scheduled', closesAt: null, seatsLeft: 7 });
  expect(new Date(before.opensAt!)).toEqual(saleStartsAt);
  // Of Postgres's clock, which has fractions of a millisecond.
  const serverTime = Date.parse(before.serverTime);
  expect([serverTime >= earliest - 1, serverTime <= latest + 1]).toEqual([true, true]);
  await waitUntil('it is open', phaseIs('open'));
  expect((await given.partner.register(attendee(ticketId))).body.responseCode).toBe('00');
});

test('what is not active is not for sale', async () => {
  const ticketId = await given.gala.addTicket({ saleEndsAt: new Date(Date.now() + 3_600_000) });
  expect(await launch()).toMatchObject({ phase: 'open', closesAt: expect.any(String) as string });
  await perform(given.database.db, updateTicketAction, { ticketId, active: false }, 'test');
  await waitUntil('it is closed', phaseIs('closed'));
});
