import type { Hold } from '@floodgate/contract';
import type { DuplicatePolicy, DuplicateScope } from '@floodgate/database';
import { createEvent, grantEvent } from '@floodgate/events';
import { createTicket } from '@floodgate/tickets';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';

const { test, given } = apiTest({ sharesEvent: true });

// Events that reject duplicates, and attendees who are registered several times at once.

test.override('apiSettings', { ANSWER_WITHIN_MS: '20000' });

/** Creates an event with a ticket. Returns the codes of its answers, and a function that registers one attendee repeatedly. */
async function openSale() {
  const fixture = await createFixture(given.database.db, 'reject');
  const ticketId = await fixture.addTicket();
  const client = new PartnerClient(given.api.baseUrl, fixture);
  const codes: string[] = [];
  const register = async () => {
    const { body } = await client.register(attendee(ticketId));
    codes.push(body.responseCode);
  };
  const repeat = (times: number) => Promise.all(Array.from({ length: times }, register));
  return { ticketId, codes, repeat };
}

test('one attendee many times at once is registered once, and no batch fails of it', async () => {
  const { codes, repeat } = await openSale();
  await repeat(10);
  expect(codes.toSorted()).toEqual(['00', ...Array.from({ length: 9 }, () => '33')]);
  expect(given.api.log()).not.toContain('a batch did not commit');
});

test('who comes again and again under one event shares a batch with those of another', async () => {
  const [gala, ball] = [await openSale(), await openSale()];
  const held = await holdTicket(given.database.db, gala.ticketId);
  const first = gala.repeat(1);
  await waitForLockWaiters(given.database.db, 1);
  const atTheGala = gala.repeat(30);
  const atTheBall = ball.repeat(1);
  await held.release();
  await Promise.all([first, atTheGala, atTheBall]);
  expect(gala.codes.toSorted()).toEqual(['00', ...Array.from({ length: 30 }, () => '33')]);
  expect(ball.codes).toEqual(['00']);
});

/** Creates an event with two tickets that does not register an attendee twice. */
async function openOnce(duplicatePolicy: DuplicatePolicy, duplicateScope: DuplicateScope) {
  const first = await createFixture(given.database.db);
  const event = await createEvent(given.database.db, {
    name: 'Ball',
    passPrefix: 'BALL',
    duplicatePolicy,
    duplicateScope,
  });
  const tickets = await Promise.all(
    [1, 2].map(() => createTicket(given.database.db, event.id, { title: 'Standing', capacity: 100 }, 'test')),
  );
  const callerOf = async ({ partnerId, secretKey }: Pick<Fixture, 'partnerId' | 'secretKey'>) => {
    await grantEvent(given.database.db, partnerId, event.id);
    return new PartnerClient(given.api.baseUrl, { secretKey, eventRef: event.ref });
  };
  return {
    client: await callerOf(first),
    callerOf,
    ticketIds: tickets.map(({ id }) => id),
    eventId: event.id,
  };
}

const taken = async (eventId: number) => {
  const tickets = await given.database.db
    .selectFrom('tickets')
    .select('taken')
    .where('event_id', '=', eventId)
    .execute();
  return tickets.reduce((sum, ticket) => sum + ticket.taken, 0);
};

test('return_existing answers the first pass reference, whatever else differs, as often as it is asked', async () => {
  const { client, ticketIds, eventId } = await openOnce('return_existing', 'event');
  const first = await client.register(attendee(ticketIds[0]!));
  expect(first.body.responseCode).toBe('00');
  const again = await Promise.all([
    ...Array.from({ length: 20 }, () => client.register(attendee(ticketIds[0]!))),
    client.register(attendee(ticketIds[1]!, { fullName: 'J. Doe', emailAddress: 'JANE.DOE@example.com' })),
    client.register(attendee(ticketIds[0]!), { 'idempotency-key': 'a' }),
  ]);
  expect(new Set(again.map(({ text }) => text))).toEqual(new Set([first.text]));
  expect(again.every(({ headers }) => headers.get('idempotent-replayed') === null)).toBe(true);
  const replay = await client.register(attendee(ticketIds[0]!), { 'idempotency-key': 'a' });
  expect([replay.text, replay.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  expect(await taken(eventId)).toBe(1);
});

test('return_existing, many at once who were never there before: one seat, one answer', async () => {
  const { client, ticketIds, eventId } = await openOnce('return_existing', 'event');
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => client.register(attendee(ticketIds[0]!))),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]!.body.responseCode).toBe('00');
  expect(await taken(eventId)).toBe(1);
});

test('return_existing in a bulk call: a repeat has the seat of the first, also in a group', async () => {
  const { client, ticketIds, eventId } = await openOnce('return_existing', 'event');
  const bulk = async (emails: string[], mode: string, key: string) => {
    const registrations = emails.map((emailAddress) => attendee(ticketIds[0]!, { emailAddress }));
    const answer = await client.request('/api/v1/events/register/bulk', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ registrations, mode }),
    });
    return (answer.body.responseData as Answer['body'][]).map(({ responseData }) => responseData);
  };
  const [a, b, sameAsA] = await bulk(['a@example.com', 'b@example.com', 'A@example.com'], 'all', 'first');
  expect(sameAsA).toBe(a);
  const [c, bAgain, cAgain] = await bulk(
    ['c@example.com', 'b@example.com', 'c@example.com'],
    'all',
    'second',
  );
  expect([bAgain, cAgain]).toEqual([b, c]);
  expect(new Set([a, b, c]).size).toBe(3);
  expect(await bulk(['c@example.com', 'b@example.com', 'c@example.com'], 'all', 'second')).toEqual([c, b, c]);
  expect(await taken(eventId)).toBe(3);
});

test("return_existing never hands out another partner's pass reference", async () => {
  const { client, callerOf, ticketIds } = await openOnce('return_existing', 'event');
  await client.register(attendee(ticketIds[0]!));
  const other = await callerOf(await createFixture(given.database.db));
  expectFailure(await other.register(attendee(ticketIds[0]!)), '33', 409);
});

test('per ticket, an attendee may have one of each', async () => {
  const rejecting = await openOnce('reject', 'ticket');
  for (const ticketId of rejecting.ticketIds) {
    expect((await rejecting.client.register(attendee(ticketId))).body.responseCode).toBe('00');
    const refused = await rejecting.client.register(attendee(ticketId));
    expectFailure(refused, '33', 409);
    expect(refused.body.responseMessage).toBe('This e-mail address is already registered for the ticket');
  }
  const returning = await openOnce('return_existing', 'ticket');
  const passes: unknown[] = [];
  for (const ticketId of [...returning.ticketIds, ...returning.ticketIds])
    passes.push((await returning.client.register(attendee(ticketId))).body.responseData);
  expect(passes.slice(2)).toEqual(passes.slice(0, 2));
  expect(await taken(returning.eventId)).toBe(2);
});

test('per ticket, Confirm Hold and Change Attendee name the ticket as well', async () => {
  const { client, ticketIds } = await openOnce('reject', 'ticket');
  const [organizedEventTicketID] = ticketIds as [number];
  const contact = { fullName: 'Joe Doe', emailAddress: 'joe@example.com' };
  const { body } = await client.register(attendee(organizedEventTicketID));
  await client.register(attendee(organizedEventTicketID, contact));
  const held = await client.post('/holds', { tickets: [{ organizedEventTicketID, seats: 1 }] });
  const { holdReference } = held.body.responseData as Hold;
  for (const [refused, message] of [
    [
      await client.post(`/holds/${holdReference}/confirm`, { contact }),
      'contact.emailAddress: already registered for the ticket',
    ],
    [
      await client.post(`/registrations/${String(body.responseData)}/attendee`, contact),
      'This e-mail address is already registered for the ticket',
    ],
  ] as const) {
    expectFailure(refused, '33', 409);
    expect(refused.body.responseMessage).toBe(message);
  }
});
