import type { JournalEntry } from '@floodgate/journal';
import { expect, test } from 'vitest';
import { checkChain, checkMails, findRepeats } from './check-deliveries.ts';

const at = new Date(0);
const entry = (offset: number, kind: JournalEntry['kind'], serial: number | null): JournalEntry => ({
  offset,
  kind,
  at,
  eventId: 1001,
  partnerId: serial === null ? 0 : 1,
  serial,
  ticketId: serial === null ? 7 : null,
  byOperator: null,
});
const JOURNAL = [
  entry(1, 'confirmed', 11),
  entry(2, 'confirmed', 12),
  entry(3, 'sold_out', null),
  entry(4, 'cancelled', 11),
];

const message = (previousCursor: number, cursor: number, id = `msg_${cursor}`) => ({
  id,
  body: JSON.stringify({
    data: {
      previousCursor: String(previousCursor),
      cursor: String(cursor),
      entries: JOURNAL.filter(({ offset }) => offset > previousCursor && offset <= cursor).map(
        ({ kind, serial, ticketId }) =>
          serial === null
            ? { type: `ticket.${kind}`, organizedEventTicketID: ticketId }
            : { type: `registration.${kind}`, passReference: `GALA-1001-${serial}-1234567890` },
      ),
    },
  }),
});

const problemsOf = (...taken: ReturnType<typeof message>[]) =>
  checkChain('endpoint', taken, JOURNAL).map(({ kind, problem }) => `${kind} ${problem}`);

test('a chain of all entries in order is right, also where messages came again', () => {
  expect(problemsOf(message(0, 2), message(2, 4))).toEqual([]);
  expect(problemsOf(message(0, 2), message(0, 2), message(2, 4), message(2, 4))).toEqual([]);
});

test('what is missing, out of the chain, or another message under the same id is found', () => {
  expect(problemsOf(message(0, 2))).toEqual([expect.stringContaining('lost endpoint: entry 2')]);
  expect(problemsOf(message(0, 2), message(3, 4))).toEqual([
    expect.stringContaining('follows 3, and 2 was the last'),
    expect.stringContaining('lost endpoint: entry 2'),
  ]);
  expect(problemsOf(message(0, 2), message(0, 4), message(2, 4, 'msg_2'))).not.toEqual([]);
  expect(problemsOf(message(0, 4), { ...message(0, 2), id: 'msg_4' })).toEqual([
    expect.stringContaining('came again, and was another one'),
  ]);
  expect(problemsOf(message(0, 2), message(2, 4), message(4, 5))).toEqual([]);
  expect(checkChain('endpoint', [message(0, 2), message(2, 4)], JOURNAL.slice(0, 3))).not.toEqual([]);
});

test('a state that was published twice is found', () => {
  const names = ['registration.confirmed 11', 'ticket.sold_out ticket 7', 'registration.cancelled 11'];
  expect(findRepeats('list', [...names, 'ticket.sold_out ticket 7'])).toEqual([]);
  expect(findRepeats('list', [...names, names[0]!])).toEqual([
    { kind: 'published twice', problem: 'list: registration.confirmed 11 was published 2 times' },
  ]);
});

test('each attendee has one e-mail', () => {
  const [ann, ben] = ['ann@example.com', 'ben@example.com'];
  const addressees = [ann, ben].map((address) => ({ address, mayHaveNone: false }));
  const mail = (to: string, messageId = `<${to}>`) => ({ to, messageId });
  const kindsOf = (taken: ReturnType<typeof mail>[], again = 0) =>
    checkMails(taken, addressees, again).map(({ kind }) => kind);
  expect(kindsOf([mail(ann), mail(ben)])).toEqual([]);
  expect(kindsOf([mail(ann)])).toEqual(['lost']);
  expect(checkMails([mail(ann)], [addressees[0]!, { address: ben, mayHaveNone: true }], 0)).toEqual([]);
  expect(kindsOf([mail(ann), mail(ben), mail(ben)])).toEqual(['doubled']);
  expect(kindsOf([mail(ann), mail(ben), mail(ben)], 1)).toEqual([]);
  expect(kindsOf([mail(ann), mail(ben), mail(ben, '<other>')], 1)).toEqual(['wrong']);
  expect(kindsOf([mail(ann), mail(ben), mail('joe@example.com')])).toEqual(['wrong']);
  // A contact has one for each seat.
  const seats = [addressees[0]!, addressees[0]!];
  expect(checkMails([mail(ann, '<1>'), mail(ann, '<2>')], seats, 0)).toEqual([]);
  expect(checkMails([mail(ann)], seats, 0)).toMatchObject([{ kind: 'lost' }]);
});
