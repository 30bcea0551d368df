import { updateTicket } from '@floodgate/tickets';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { operationsOf, resolve, type Document, type Schema } from '../harness/contract-document.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, type Answer } from '../harness/partner-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest();

// An event of its own for each test: the list of tickets is remembered for a second.

const HOUR_MS = 3_600_000;
const ENVELOPE_FIELDS = ['responseCode', 'responseMessage', 'responseData'];
const TICKET_FIELDS = (
  'id ticketTitle ticketPrice ticketBenefits activeStatus organizedEventID ' +
  'organizedEvent count dateCreated createdBy lastModifiedBy lastModifiedDate'
).split(' ');
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}\+00:00$/;

type Json = Record<string, unknown>;

const dataOf = (answer: Answer) => answer.body.responseData as Json[];
const timestamp: unknown = expect.stringMatching(TIMESTAMP);
/** Field names as they stand in the text of an answer, which a parser would not show where one comes twice. */
const fieldsOf = (text: string) => [...text.matchAll(/"([A-Za-z0-9]+)":/g)].map(([, name]) => name);

const inMs = (offsetMs: number) => new Date(Date.now() + offsetMs);

test('a list of tickets has exactly the fields that were promised, in their order and types', async () => {
  const id = await given.gala.addTicket({ title: 'Balcony', price: 49.9, benefits: 'A drink', capacity: 7 });
  const answer = await given.partner.tickets();

  expect(fieldsOf(answer.text)).toEqual([...ENVELOPE_FIELDS, ...TICKET_FIELDS]);
  expect(answer.body).toStrictEqual({
    responseCode: '00',
    responseMessage: 'Successful',
    responseData: [
      {
        id,
        ticketTitle: 'Balcony',
        ticketPrice: 49.9,
        ticketBenefits: 'A drink',
        activeStatus: true,
        organizedEventID: given.gala.eventId,
        organizedEvent: null,
        count: 7,
        dateCreated: timestamp,
        createdBy: 0,
        lastModifiedBy: 'test',
        lastModifiedDate: timestamp,
      },
    ],
  });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
});

test('timestamps carry fractional seconds and the offset even on a whole second', async () => {
  const id = await given.gala.addTicket();
  await sql`update tickets set last_modified_at = '2026-11-21T10:00:00+01:00' where id = ${id}`.execute(
    given.database.db,
  );
  expect(dataOf(await given.partner.tickets())[0]!['lastModifiedDate']).toBe('2026-11-21T09:00:00.000+00:00');
});

test('only tickets that can be bought now are listed, in the order of their ids', async () => {
  const running = await given.gala.addTicket({ saleStartsAt: inMs(-HOUR_MS), saleEndsAt: inMs(HOUR_MS) });
  await given.gala.addTicket({ active: false });
  await given.gala.addTicket({ saleStartsAt: inMs(HOUR_MS) });
  await given.gala.addTicket({ saleEndsAt: inMs(-HOUR_MS) });
  await given.gala.addTicket({ capacity: 0 });
  const unbounded = await given.gala.addTicket();
  const soldOut = await given.gala.addTicket({ capacity: 1 });
  expect((await given.partner.register(attendee(soldOut))).body.responseCode).toBe('00');
  await (await createFixture(given.database.db)).addTicket();

  const listed = dataOf(await given.partner.tickets()).map(({ id }) => id);
  expect(listed).toEqual([running, unbounded]);
});

test('an operator can lift the sales window; what is not given stays, and the change is noted', async () => {
  const id = await given.gala.addTicket({
    title: 'Balcony',
    saleStartsAt: inMs(HOUR_MS),
    saleEndsAt: inMs(2 * HOUR_MS),
  });
  const longAgo = '2026-01-01T00:00:00.000+00:00';
  await sql`update tickets set last_modified_at = ${longAgo} where id = ${id}`.execute(given.database.db);
  await updateTicket(given.database.db, { shardId: given.gala.shardId, id }, { saleStartsAt: null }, 'jane');
  const [listed] = dataOf(await given.partner.tickets());
  expect(listed).toMatchObject({
    id,
    ticketTitle: 'Balcony',
    lastModifiedBy: 'jane',
    lastModifiedDate: timestamp,
  });
  expect(listed!['lastModifiedDate']).not.toBe(longAgo);
  // Stored by an earlier release: whom --by named.
  const { shardId } = given.gala;
  await updateTicket(given.database.db, { shardId, id }, { saleStartsAt: null }, 'jane@example.com');
  await waitUntil('the list shows no address', async () => {
    const [shown] = dataOf(await given.partner.tickets());
    return shown!['lastModifiedBy'] === 'operator';
  });
  const ticket = given.database.db.selectFrom('tickets').select('sale_ends_at').where('id', '=', id);
  expect((await ticket.executeTakeFirstOrThrow()).sale_ends_at).not.toBeNull();
});

test('an event without tickets has an empty list', async () => {
  expect((await given.partner.tickets()).text).toBe(
    '{"responseCode":"00","responseMessage":"Successful","responseData":[]}',
  );
});

test('count is what remains, and follows', async () => {
  const ticketId = await given.gala.addTicket({ capacity: 3 });
  const count = async () => dataOf(await given.partner.tickets())[0]?.['count'];
  expect(await count()).toBe(3);
  await given.partner.register(attendee(ticketId));
  // registrations/cancel.test.ts tests how old the list can be.
  const expectSoon = (expected: number) =>
    waitUntil(`the list shows ${expected}`, async () => (await count()) === expected);
  await expectSoon(2);
  await updateTicket(
    given.database.db,
    { shardId: given.gala.shardId, id: ticketId },
    { capacity: 11 },
    'test',
  );
  await expectSoon(10);
});

test('a registration answers a pass reference, under which its state is found', async () => {
  const ticketId = await given.gala.addTicket({ title: 'Balcony' });
  const { body, text } = await given.partner.register(attendee(ticketId));
  expect(fieldsOf(text)).toEqual(ENVELOPE_FIELDS);
  expect(body.responseData).toMatch(new RegExp(`^GALA-${given.gala.eventId}-[1-9][0-9]*-[0-9]{10}$`));

  const status = await given.partner.registration(body.responseData as string);
  expect(status.body).toStrictEqual({
    responseCode: '00',
    responseMessage: 'Successful',
    responseData: {
      passReference: body.responseData,
      state: 'reserved',
      organizedEventID: given.gala.eventId,
      organizedEventTicketID: ticketId,
      ticketTitle: 'Balcony',
      dateReserved: timestamp,
      dateFinalized: null,
      dateCancelled: null,
    },
  });
  expect(fieldsOf(status.text)).toEqual([
    ...ENVELOPE_FIELDS,
    ...Object.keys(status.body.responseData as Json),
  ]);
});

test('a state tells when the registration was finalized and when it was cancelled', async () => {
  const { body } = await given.partner.register(attendee(await given.gala.addTicket()));
  const state = async () => (await given.partner.registration(body.responseData as string)).body.responseData;
  await sql`update batches set state = 'confirmed', finished_at = now()`.execute(given.database.db);
  expect(await state()).toMatchObject({ state: 'confirmed', dateFinalized: timestamp, dateCancelled: null });
  await sql`update registrations set cancelled_at = now()`.execute(given.database.db);
  expect(await state()).toMatchObject({ state: 'cancelled', dateCancelled: timestamp });
});

test('the OpenAPI document describes the routes, and envelopes that are closed', async () => {
  const response = await fetch(`${given.api.baseUrl}/api/v1/openapi.json`);
  const document = (await response.json()) as Document;
  expect(document.openapi).toMatch(/^3\.1\./);
  const operations = operationsOf(document);
  expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
    'delete /api/v1/webhooks/{webhookId}',
    'get /api/v1/events/holds',
    'get /api/v1/events/holds/{holdReference}',
    'get /api/v1/events/launch',
    'get /api/v1/events/passes/event',
    'get /api/v1/events/passes/revoked',
    'get /api/v1/events/registrations',
    'get /api/v1/events/registrations/{passReference}',
    'get /api/v1/events/registrations/{passReference}/admissions',
    'get /api/v1/events/registrations/{passReference}/pass',
    'get /api/v1/events/tickets',
    'get /api/v1/events/waiting-list/{entry}',
    'get /api/v1/webhooks',
    'get /api/v1/webhooks/{webhookId}',
    'get /api/v1/webhooks/{webhookId}/attempts',
    'patch /api/v1/webhooks/{webhookId}',
    'post /api/v1/events/holds',
    'post /api/v1/events/holds/confirm',
    'post /api/v1/events/holds/{holdReference}/confirm',
    'post /api/v1/events/holds/{holdReference}/extend',
    'post /api/v1/events/holds/{holdReference}/release',
    'post /api/v1/events/holds/{holdReference}/seats',
    'post /api/v1/events/register',
    'post /api/v1/events/register/bulk',
    'post /api/v1/events/registrations/cancel',
    'post /api/v1/events/registrations/{passReference}/attendee',
    'post /api/v1/events/registrations/{passReference}/cancel',
    'post /api/v1/events/registrations/{passReference}/confirm',
    'post /api/v1/events/reset',
    'post /api/v1/events/waiting-list',
    'post /api/v1/events/waiting-list/{entry}/leave',
    'post /api/v1/webhooks',
    'post /api/v1/webhooks/{webhookId}/pause',
    'post /api/v1/webhooks/{webhookId}/replay',
    'post /api/v1/webhooks/{webhookId}/resume',
    'post /api/v1/webhooks/{webhookId}/rotate',
    'post /api/v1/webhooks/{webhookId}/test',
  ]);
  for (const { responses } of operations)
    for (const { content } of Object.values(responses))
      expectClosedEnvelope(resolve(document, content['application/json'].schema));
});

function expectClosedEnvelope(schema: Schema): void {
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false, required: ENVELOPE_FIELDS });
  expect(Object.keys(schema.properties!)).toEqual(ENVELOPE_FIELDS);
}
