import { expect, test } from 'vitest';
import { timeText } from './time-text.ts';

const text = (timeZone: string | null, startsAt: string, endsAt?: string, language = 'en') =>
  // Versions of Unicode's data differ in spaces and commas.
  timeText({ timeZone, language }, new Date(startsAt), endsAt ? new Date(endsAt) : null).replaceAll(
    /[\s,]+/g,
    ' ',
  );

const CET = 'Central European Standard Time';
const CEST = 'Central European Summer Time';

test.for([
  [
    'within a day',
    'Europe/Berlin',
    '2026-12-04T11:00+01:00',
    '2026-12-04T23:00+01:00',
    `11:00 – 23:00 ${CET}`,
  ],
  [
    'until the next day',
    'Europe/Berlin',
    '2026-12-04T20:00+01:00',
    '2026-12-05T04:00+01:00',
    `Friday 4 December 2026 at 20:00 – Saturday 5 December 2026 at 04:00 ${CET}`,
  ],
  ['without an end', 'Europe/Berlin', '2026-07-04T11:00+02:00', undefined, `4 July 2026 at 11:00 ${CEST}`],
  ['without a zone', null, '2026-07-04T11:00+02:00', undefined, 'at 09:00 Coordinated Universal Time'],
  ['in another zone', 'Europe/London', '2026-07-04T11:00+01:00', undefined, 'at 11:00 British Summer Time'],
  ['with half hours', 'Asia/Kolkata', '2026-12-04T11:00+05:30', undefined, 'at 11:00 India Standard Time'],
  ['with quarters', 'Asia/Kathmandu', '2026-12-04T11:00+05:45', undefined, 'at 11:00 Nepal Time'],
  [
    'in a zone that has no name of its own',
    'America/Punta_Arenas',
    '2026-12-04T11:00-03:00',
    undefined,
    'at 11:00 Punta Arenas Time (GMT-03:00)',
  ],
  ['in a fixed offset', 'Etc/GMT+5', '2026-12-04T11:00-05:00', undefined, 'at 11:00 GMT-05:00'],
  [
    'over the end of summer time',
    'Europe/Berlin',
    '2026-10-25T02:30+02:00',
    '2026-10-25T02:30+01:00',
    `Sunday 25 October 2026 at 02:30 ${CEST} – 02:30 ${CET}`,
  ],
  [
    'over the night of the change',
    'Europe/Berlin',
    '2026-10-24T20:00+02:00',
    '2026-10-25T04:00+01:00',
    `24 October 2026 at 20:00 ${CEST} – Sunday 25 October 2026 at 04:00 ${CET}`,
  ],
  [
    'over the start of summer time',
    'Europe/Berlin',
    '2026-03-29T01:00+01:00',
    '2026-03-29T04:00+02:00',
    `at 01:00 ${CET} – 04:00 ${CEST}`,
  ],
  [
    'over a change of half an hour',
    'Australia/Lord_Howe',
    '2026-04-05T01:45+11:00',
    '2026-04-05T01:45+10:30',
    'at 01:45 Lord Howe Daylight Time – 01:45 Lord Howe Standard Time',
  ],
  [
    'over a change in the southern hemisphere',
    'Pacific/Auckland',
    '2026-09-27T01:00+12:00',
    '2026-09-27T04:00+13:00',
    'at 01:00 New Zealand Standard Time – 04:00 New Zealand Daylight Time',
  ],
  [
    'over the end of daylight time in America',
    'America/New_York',
    '2026-11-01T01:30-04:00',
    '2026-11-01T01:30-05:00',
    'at 01:30 Eastern Daylight Time – 01:30 Eastern Standard Time',
  ],
] as const)('a time %s has its zone in words', ([, timeZone, startsAt, endsAt, expected]) => {
  const whole = text(timeZone, startsAt, endsAt);
  expect(whole.slice(-expected.length)).toBe(expected);
});

test.for([
  [
    'Europe/Berlin',
    '2026-10-25T02:30+02:00',
    '2026-10-25T02:30+01:00',
    '02:30 Mitteleuropäische Sommerzeit – 02:30 Mitteleuropäische Normalzeit',
  ],
  ['Asia/Kolkata', '2026-12-04T11:00+05:30', undefined, 'um 11:00 Indische Normalzeit'],
  [null, '2026-12-04T11:00Z', undefined, 'um 11:00 Koordinierte Weltzeit'],
] as const)('in German, in the zone %s', ([timeZone, startsAt, endsAt, expected]) => {
  const whole = text(timeZone, startsAt, endsAt, 'de');
  expect(whole.slice(-expected.length)).toBe(expected);
});
