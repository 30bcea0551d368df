import { createCalendarFrame } from '@floodgate/mail/calendar';
import { parseSender } from '@floodgate/mail/letter';
import type { Event } from '@floodgate/events';
import { expect, test } from 'vitest';
import { readCalendar } from '../harness/calendar-file.ts';

// Calendar files, read by a parser that is not ours and held against the rules of RFC 5545 and RFC 5546.

const CREATED = new Date('2026-11-01T10:00:00Z');
const AT = new Date('2026-11-27T21:59:32.123Z');
const SENDER = parseSender('The Gala Team <tickets@floodgate-tests.org>')!;
const EVENT: Event = {
  id: 1001,
  ref: '0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f',
  shardId: 0,
  name: 'Gala',
  passPrefix: 'GALA',
  mode: 'live',
  duplicatePolicy: 'allow',
  duplicateScope: 'event',
  cancelUntil: null,
  startsAt: new Date('2026-12-04T10:00:00Z'),
  endsAt: new Date('2026-12-04T22:00:00Z'),
  venue: 'Town Hall',
  timeZone: 'Europe/Berlin',
  language: 'en',
  replyTo: null,
  mailOperatorCancels: true,
  mailPartnerCancels: false,
  revision: 3,
  createdAt: CREATED,
  archivedAt: null,
  stoppedTickets: null,
  calledOffAt: null,
  currency: null,
};

const fileOf = (
  event: Partial<Event> = {},
  { method = 'PUBLISH', description = 'Pass reference: GALA-1001-1-2', at = AT, sender = SENDER } = {},
) => {
  const frame = createCalendarFrame({ ...EVENT, ...event }, sender, method as 'PUBLISH' | 'CANCEL')!;
  return readCalendar(Buffer.from(frame({ at, description })));
};

const valueOf = (file: ReturnType<typeof fileOf>, name: string) =>
  String(file.component.getFirstPropertyValue(name));

test('an entry has the event, the time of sending and the pass reference', () => {
  const file = fileOf();
  expect(file.method).toBe('PUBLISH');
  expect(file.event.startDate.toJSDate()).toEqual(EVENT.startsAt);
  expect(file.event.endDate.toJSDate()).toEqual(EVENT.endsAt);
  expect([file.event.uid, file.event.summary, file.event.location]).toEqual([EVENT.ref, 'Gala', 'Town Hall']);
  expect(file.event.description).toBe('Pass reference: GALA-1001-1-2');
  expect(valueOf(file, 'dtstamp')).toBe('2026-11-27T21:59:32Z');
  expect(valueOf(file, 'status')).toBe('CONFIRMED');
});

test.for([
  ['the sender', {}, 'The Gala Team <tickets@x.org>', 'The Gala Team', 'mailto:tickets@x.org'],
  ['a sender in quotes', {}, '"Team, Gala" <tickets@x.org>', 'Team, Gala', 'mailto:tickets@x.org'],
  ['a sender without a name', {}, 'tickets@x.org', 'Gala', 'mailto:tickets@x.org'],
  ['the address for replies', { replyTo: 'help@y.org' }, 'T <t@x.org>', 'Gala', 'mailto:help@y.org'],
] as const)('the organizer is %s', ([, event, from, name, address]) => {
  const file = fileOf(event, { sender: parseSender(from)! });
  const organizer = file.component.getFirstProperty('organizer')!;
  expect([organizer.getParameter('cn'), organizer.getFirstValue()]).toEqual([name, address]);
});

test.for([
  ['commas, semicolons and backslashes', 'A, B; C\\D \\n E'],
  ['quotes', 'The "Big" Night'],
  ['umlauts at each place of a fold', 'Größe '.repeat(40).trim()],
  ['characters of four octets', '🎉'.repeat(60)],
  ['characters of three octets', '桜の花見会'.repeat(20)],
  ['what looks like a line of the file', 'SEQUENCE:0 DTSTAMP:1 DESCRIPTION:- END:VEVENT'],
  ['what a replacement would read', 'Win $& $1 $$'],
])('text with %s is the same after it was read', ([, text]) => {
  const file = fileOf({ name: text!, venue: text! }, { description: `Ticket: ${text}\nPass reference: X` });
  expect([file.event.summary, file.event.location]).toEqual([text, text]);
  expect(file.event.description).toBe(`Ticket: ${text}\nPass reference: X`);
  expect(file.component.getAllProperties('sequence')).toHaveLength(1);
});

test('a cancellation has the same UID, and is higher than a confirmation of the same second', () => {
  const [added, removed] = [fileOf(), fileOf({}, { method: 'CANCEL' })];
  expect([removed.method, valueOf(removed, 'status')]).toEqual(['CANCEL', 'CANCELLED']);
  expect(removed.event.uid).toBe(added.event.uid);
  expect(removed.event.sequence).toBeGreaterThan(added.event.sequence);
  const again = fileOf({}, { at: new Date(AT.getTime() + 1_000) });
  expect(again.event.sequence).toBeGreaterThan(removed.event.sequence);
});

test('every version is higher than the revision, which was the version of earlier releases', () => {
  expect(fileOf({ revision: 40 }, { at: CREATED }).event.sequence).toBe(40);
  // A clock that is behind.
  expect(fileOf({ revision: 40 }, { at: new Date(0) }).event.sequence).toBe(40);
  const inThirtyYears = new Date('2056-11-01T10:00:00Z');
  expect(fileOf({}, { at: inThirtyYears, method: 'CANCEL' }).event.sequence).toBeLessThan(2 ** 31);
});

test('without a start there is no file', () => {
  expect(createCalendarFrame({ ...EVENT, startsAt: null }, SENDER, 'PUBLISH')).toBeNull();
});
