import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { reserveBatch } from '@floodgate/registrations';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { expect } from 'vitest';
import { consoleTest } from '../harness/console-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = consoleTest();

async function eventWithTwo() {
  const gala = await createFixture(given.database.db);
  const ticketId = await gala.addTicket();
  const people = [
    { fullName: 'Ada "Countess" Lovelace', phoneNumber: '+49 30 123456' },
    { fullName: '=HYPERLINK("x")', extraData1: 'Zeile 1\nZeile 2' },
  ];
  await reserveBatch(
    given.database.db,
    randomUUID(),
    people.map((person) => reservationOf(gala, ticketId, person)),
  );
  // Of another event.
  const other = await createFixture(given.database.db);
  await reserveBatch(given.database.db, randomUUID(), [reservationOf(other, await other.addTicket())]);
  return { ...gala, ticketId };
}

const download = async (eventId: number, format: string, cookie: string) =>
  given.request(`/operator/v1/events/${eventId}/attendees?format=${format}`, { headers: { cookie } });

test('an export has every registration of the event, as CSV without formulas', async () => {
  const { eventId, ticketId, partnerId } = await eventWithTwo();
  const { cookie } = await given.addOperator('operator');
  const answer = await download(eventId, 'csv', cookie);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const text = await answer.text();
  expect(text.split('\r\n')[0]).toMatch(/^"passReference","state","partnerId",.*,"extraData2"$/);
  expect(text.match(/^"GALA-/gm)).toHaveLength(2);
  expect(text).toContain(`,"reserved",${partnerId},${ticketId},"Standing","partner `);
  expect(text).toContain(`"Ada ""Countess"" Lovelace","jane.doe@example.com","'+49 30 123456",`);
  expect(text).toContain(`"'=HYPERLINK(""x"")"`);
  const printed = await runCli(
    { DATABASE_URL: given.database.url },
    'registration',
    'export',
    String(eventId),
  );
  expect(printed).toEqual({ code: 0, output: text });
});

test('for Excel, a byte order mark and the separator of choice', async () => {
  const { eventId } = await eventWithTwo();
  const { cookie } = await given.addOperator('operator');
  const answer = await download(eventId, 'excel&separator=semicolon', cookie);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  expect(bytes.toString('utf8', 3).split('\r\n')[0]).toMatch(/^"passReference";"state";/);
  const printed = await runCli(
    { DATABASE_URL: given.database.url },
    'registration',
    'export',
    String(eventId),
    '--format',
    'excel',
    '--separator',
    'semicolon',
  );
  expect(Buffer.from(printed.output)).toEqual(bytes);
});

test('the operator API exports NDJSON', async () => {
  const { eventId } = await eventWithTwo();
  const token = await given.addToken('attendees:read');
  const headers = { authorization: `Bearer ${token}` };
  const answer = await given.request(`/operator/v1/events/${eventId}/attendees?format=ndjson`, { headers });
  const lines = (await answer.text()).trimEnd().split('\n');
  const people = lines.map((line) => JSON.parse(line) as Record<string, string>);
  expect(people.map(({ fullName }) => fullName)).toEqual(['Ada "Countess" Lovelace', '=HYPERLINK("x")']);
  expect(people[0]!['phoneNumber']).toBe('+49 30 123456');
});

test('a viewer gets none, and an unknown event or format is refused', async () => {
  const { eventId } = await eventWithTwo();
  const [viewer, operator] = [await given.addOperator('viewer'), await given.addOperator('operator')];
  expect((await download(eventId, 'csv', viewer.cookie)).status).toBe(403);
  expect((await download(999_999, 'csv', operator.cookie)).status).toBe(404);
  const token = await given.addToken('attendees:read');
  expect(await given.call(token, `GET /events/${eventId}/attendees?format=xlsx`)).toMatchObject({
    status: 422,
    body: { invalid: { format: 'csv, excel or ndjson' } },
  });
});

test('an export has the price, the partner, its own reference, the e-mail and the admission', async () => {
  const { db } = given;
  const gala = await createFixture(db);
  await perform(db, updateEventAction, { eventId: gala.eventId, currency: 'EUR' }, 'test');
  const ticketId = await gala.addTicket({ price: 12.5 });
  const reservation = reservationOf(gala, ticketId, { partnerReference: 'order-7' });
  await reserveBatch(db, randomUUID(), [reservation]);
  await perform(db, updateTicketAction, { ticketId, price: 99 }, 'test');
  const token = await given.addToken('attendees:read');
  const headers = { authorization: `Bearer ${token}` };
  const answer = await given.request(`/operator/v1/events/${gala.eventId}/attendees?format=ndjson`, {
    headers,
  });
  expect(JSON.parse(await answer.text())).toMatchObject({
    partner: expect.stringMatching(/^partner /),
    price: 12.5,
    currency: 'EUR',
    partnerReference: 'order-7',
    mail: 'none',
    admittedAt: null,
    gate: null,
  });
});
