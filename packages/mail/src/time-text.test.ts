import { expect, test } from 'vitest';
import { timeText } from './time-text.ts';

const text = (timeZone: string | null, startsAt: string, endsAt?: string, language = 'en') =>
  // Versions of Unicode's data differ in spaces and commas.
  timeText({ timeZone, language }, new Date(startsAt), endsAt ? new Date(endsAt) : null).replaceAll(
    /[\s,]+/g,
    ' ',
  );

test.for([
  ['within a day', 'Europe/Berlin', '2026-12-04T11:00+01:00', '2026-12-04T23:00+01:00', /11:00 – 23:00 CET$/],
  [
    'until the next day',
    'Europe/Berlin',
    '2026-12-04T20:00+01:00',
    '2026-12-05T04:00+01:00',
    /4 December.* 20:00.* Saturday 5 December 2026 at 04:00 CET$/,
  ],
  ['without an end', 'Europe/Berlin', '2026-07-04T11:00+02:00', undefined, /4 July 2026 at 11:00 CEST$/],
  ['without a zone', null, '2026-07-04T11:00+02:00', undefined, /at 09:00 UTC$/],
  ['in another zone', 'Europe/London', '2026-07-04T11:00+01:00', undefined, /at 11:00 BST$/],
  ['with half hours', 'Asia/Kolkata', '2026-12-04T11:00+05:30', undefined, /at 11:00 GMT\+5:30$/],
  [
    'over the end of summer time',
    'Europe/Berlin',
    '2026-10-25T02:30+02:00',
    '2026-10-25T02:30+01:00',
    /Sunday 25 October 2026 at 02:30 CEST – 02:30 CET$/,
  ],
  [
    'over the night of the change',
    'Europe/Berlin',
    '2026-10-24T20:00+02:00',
    '2026-10-25T04:00+01:00',
    /24 October 2026 at 20:00 CEST – Sunday 25 October 2026 at 04:00 CET$/,
  ],
  [
    'over the start of summer time',
    'Europe/Berlin',
    '2026-03-29T01:00+01:00',
    '2026-03-29T04:00+02:00',
    /at 01:00 CET – 04:00 CEST$/,
  ],
  [
    'over a change of half an hour',
    'Australia/Lord_Howe',
    '2026-04-05T01:45+11:00',
    '2026-04-05T01:45+10:30',
    /at 01:45 GMT\+11 – 01:45 GMT\+10:30$/,
  ],
  [
    'over a change in the southern hemisphere',
    'Pacific/Auckland',
    '2026-09-27T01:00+12:00',
    '2026-09-27T04:00+13:00',
    /at 01:00 GMT\+12 – 04:00 GMT\+13$/,
  ],
] as const)('a time %s has its zone', ([, timeZone, startsAt, endsAt, expected]) => {
  expect(text(timeZone, startsAt, endsAt)).toMatch(expected);
});

test('in German', () => {
  expect(text('Europe/Berlin', '2026-10-25T02:30+02:00', '2026-10-25T02:30+01:00', 'de')).toMatch(
    /02:30 MESZ – 02:30 MEZ$/,
  );
});
