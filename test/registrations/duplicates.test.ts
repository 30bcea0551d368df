import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';

// Events that reject duplicates, and attendees who come several times at once.

let database: TestDatabase;
let api: InProcessApi;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startInProcessApi({ DATABASE_URL: database.url, ANSWER_WITHIN_MS: '20000' });
});

afterAll(async () => {
  await api.close();
  await database.drop();
});

/** An event with a ticket, and how to register the same attendee for it again and again. */
async function openSale() {
  const fixture = await createFixture(database.db, 'reject');
  const ticketId = await fixture.addTicket();
  const client = new PartnerClient(api.baseUrl, fixture);
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
  expect(api.log()).not.toContain('a batch did not commit');
});

test('who comes again and again under one event shares a batch with those of another', async () => {
  const [gala, ball] = [await openSale(), await openSale()];
  const held = await holdTicket(database.db, gala.ticketId);
  const first = gala.repeat(1);
  await waitForLockWaiters(database.db, 1);
  const atTheGala = gala.repeat(30);
  const atTheBall = ball.repeat(1);
  await held.release();
  await Promise.all([first, atTheGala, atTheBall]);
  expect(gala.codes.toSorted()).toEqual(['00', ...Array.from({ length: 30 }, () => '33')]);
  expect(ball.codes).toEqual(['00']);
});
