import { expect, test } from 'vitest';
import { lastOfServers, partsByServer, rangesAfter, rangesUpTo } from './serial-ranges.ts';

const SECOND = 2 ** 48;
const THIRD = 2 ** 49;
const LAST = Number.MAX_SAFE_INTEGER;

test('on one server, a serial bounds what came up to it, and what came since', () => {
  expect(rangesUpTo([812])).toEqual([{ after: 0, upTo: 812 }]);
  expect(rangesAfter([812])).toEqual([{ after: 812, upTo: LAST }]);
  expect(lastOfServers([3, 7, 812])).toEqual([812]);
});

test('with no registration, everything came since', () => {
  expect(rangesUpTo([0])).toEqual([{ after: 0, upTo: 0 }]);
  expect(rangesAfter([0])).toEqual([{ after: 0, upTo: LAST }]);
  expect(rangesAfter([])).toEqual([{ after: 0, upTo: LAST }]);
});

test('on several servers, each has its own bound, and one without a bound has nothing up to it', () => {
  const lasts = [THIRD + 9, 5];
  expect(rangesUpTo(lasts)).toEqual([
    { after: 0, upTo: 5 },
    { after: THIRD, upTo: THIRD + 9 },
  ]);
  expect(rangesAfter(lasts)).toEqual([
    { after: 5, upTo: THIRD },
    { after: THIRD + 9, upTo: LAST },
  ]);
  expect(lastOfServers([1, 5, SECOND + 1, SECOND + 2, THIRD + 9])).toEqual([5, SECOND + 2, THIRD + 9]);
});

test('no serial is in two ranges, whatever bounds are given', () => {
  const lasts = [7, 5, 5];
  expect(rangesUpTo(lasts).filter(({ after, upTo }) => after < upTo)).toEqual([
    { after: 0, upTo: 5 },
    { after: 5, upTo: 7 },
  ]);
  expect(rangesAfter(lasts)).toEqual([{ after: 7, upTo: LAST }]);
});

test('a range has one part per server', () => {
  expect([...partsByServer({ after: 3, upTo: 9 })]).toEqual([{ after: 3, upTo: 9 }]);
  expect([...partsByServer({ after: 3, upTo: THIRD + 9 })]).toEqual([
    { after: 3, upTo: SECOND },
    { after: SECOND, upTo: THIRD },
    { after: THIRD, upTo: THIRD + 9 },
  ]);
});
