import type { WaitingEntry, WebhookEventType } from '@floodgate/contract';
import { expireHolds } from '@floodgate/registrations';
import { findNoticeContent } from '@floodgate/webhooks/notices';
import { beforeEach, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { strictReader } from '../harness/described.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';
import { endHolds } from '../harness/reservation.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Receiver } from '../harness/webhook-receiver.ts';
import { addWebhook, changeWebhook } from '../harness/webhooks.ts';
import { deliverInTest, startReceiverInTest } from '../harness/webhooks-in-test.ts';

const { test, given } = apiTest({ own: 'starts processes that work on everything in the database' });

// A partner's entries wait for at most as many seats as the ticket has.
test.override('ticket', { capacity: 2, offerHours: 24 });

const CONTACT = { fullName: 'Waiting Person', emailAddress: 'waiting.person@example.com' };
let sold: string;

beforeEach(async () => {
  const sell = async (emailAddress: string) =>
    (await given.partner.register(attendee(given.ticketId, { emailAddress }))).body.responseData as string;
  sold = await sell('one@example.com');
  await sell('other@example.com');
});

const finalize = () => finalizePending(given.database.db, given.gala.shardId);
const waitingOf = (receiver: Receiver) =>
  receiver.told().flatMap(({ data }) => data.entries.filter(({ type }) => type.startsWith('waiting.')));

async function join(more: object = {}) {
  const { body } = await given.partner.post('/waiting-list', {
    organizedEventTicketID: given.ticketId,
    contact: CONTACT,
    ...more,
  });
  expect(body.responseCode, body.responseMessage).toBe('00');
  return body.responseData as WaitingEntry;
}

const read = async ({ entry }: WaitingEntry) =>
  (await given.partner.request(`/api/v1/events/waiting-list/${entry}`)).body.responseData as WaitingEntry;

/** Offers the seat to the first entry, lets that offer expire, and accepts that of the second one. */
async function offerTwice(first: WaitingEntry, second: WaitingEntry) {
  await given.partner.post(`/registrations/${sold}/cancel`, {});
  await finalize();
  const { dateExpires } = await read(first);
  await endHolds(given.database.db, given.gala);
  expect(await expireHolds(given.database.db, given.gala.shardId, 100)).toBe(1);
  await finalize();
  const { dateExpires: secondExpires } = await read(second);
  expect(
    (await given.partner.post(`/holds/${second.entry}/confirm`, { contact: CONTACT })).body.responseCode,
  ).toBe('00');
  await finalize();
  return [dateExpires, secondExpires];
}

test('the entries of a waiting list are sent in order, each with its offer and without its contact', async () => {
  const receiver = await startReceiverInTest();
  await addWebhook(given.database.db, given.gala, { url: receiver.url });
  const [first, second] = [await join({ partnerReference: 'order-1' }), await join()];
  await finalize();
  const [firstExpires, secondExpires] = await offerTwice(first, second);
  await deliverInTest(given.database.url);
  await waitUntil('all are sent', () => waitingOf(receiver).length === 6);
  const ticket = { organizedEventID: given.gala.eventId, organizedEventTicketID: given.ticketId, seats: 1 };
  const entry = (type: string, of: WaitingEntry, dateExpires: string | null | undefined) => ({
    type,
    entry: of.entry,
    ...ticket,
    partnerReference: of.partnerReference,
    dateExpires,
    dateChanged: expect.stringMatching(/\+00:00$/) as unknown,
  });
  expect(waitingOf(receiver)).toStrictEqual([
    entry('waiting.joined', first, null),
    entry('waiting.joined', second, null),
    entry('waiting.offered', first, firstExpires),
    entry('waiting.offered', second, secondExpires),
    entry('waiting.expired', first, firstExpires),
    entry('waiting.confirmed', second, secondExpires),
  ]);
  for (const { body } of receiver.deliveries) {
    strictReader().assertMessage(body);
    expect(body).not.toMatch(/waiting.person/i);
  }
});

test('a message that is sent again is the same, also if the entries have an offer by now', async () => {
  const receiver = await startReceiverInTest((_, response) => void response.writeHead(500).end());
  const { endpoint } = await addWebhook(given.database.db, given.gala, { url: receiver.url });
  const entries = [await join(), await join()] as const;
  await finalize();
  await deliverInTest(given.database.url);
  await waitUntil('an attempt fails', () => receiver.deliveries.length === 1);
  await offerTwice(...entries);
  receiver.accept();
  await waitUntil('it is sent again', async () => {
    await changeWebhook(given.database.db, endpoint, 'resume');
    return waitingOf(receiver).some(({ type }) => type === 'waiting.confirmed');
  });
  const [failed, again] = receiver.deliveries;
  expect([again!.id, again!.body]).toEqual([failed!.id, failed!.body]);
});

test('the notice of a disabled webhook counts the entries of waiting lists', async () => {
  const { endpoint } = await addWebhook(given.database.db, given.gala, {
    url: 'https://partner.example/hook',
    types: ['waiting.joined'],
  });
  await join();
  await join();
  await finalize();
  expect(await findNoticeContent(given.database.db, given.gala.shardId, endpoint.id)).toMatchObject({
    waiting: 2,
  });
});

test.for<WebhookEventType>(['waiting.confirmed', 'registration.confirmed'])(
  'a webhook of the type %s gets no entry of another type',
  async (type) => {
    const receiver = await startReceiverInTest();
    await addWebhook(given.database.db, given.gala, { url: receiver.url, types: [type] });
    await offerTwice(await join(), await join());
    await deliverInTest(given.database.url);
    const types = () => receiver.told().flatMap(({ data }) => data.entries.map((entry) => entry.type));
    await waitUntil('they are sent', () => types().length > 0);
    expect(new Set(types())).toEqual(new Set([type]));
  },
);
