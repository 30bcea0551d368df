import { expect, test } from 'vitest';
import { median, spread } from './statistics.ts';

test('the median of an odd number of values is the one in the middle, by size and not by text', () => {
  expect(median([100, 9, 20])).toBe(20);
});

test('the median of an even number of values is the mean of the two in the middle', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
});

test('a single value is its own spread', () => {
  expect(spread([7])).toEqual({ median: 7, min: 7, max: 7 });
});

test('a spread holds the median and the range, and leaves its values in their order', () => {
  const values = [3, 1, 10];
  expect(spread(values)).toEqual({ median: 3, min: 1, max: 10 });
  expect(values).toEqual([3, 1, 10]);
});

test('no values have no median', () => {
  expect(() => median([])).toThrow(RangeError);
});
