import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { expect, test } from 'vitest';
import { Seats } from './actions.ts';
import { valueOf } from './input.ts';

const Price = Type.Number();

test.each([
  ['5000', 5_000],
  [' 5000 ', 5_000],
  ['0', 0],
])('%j is a whole number', (text, number) => expect(valueOf(Seats, text)).toBe(number));

test.each(['5.000', '5.0', '5,000', '5 000', "5'000", '5 000', '٥٠٠٠', '5e3', '0x10', '05', '+5', '½'])(
  '%j is no whole number',
  (text) => expect(Value.Check(Seats, valueOf(Seats, text))).toBe(false),
);

test.each([
  ['12', 12],
  ['12.5', 12.5],
  ['12.50', 12.5],
  ['1000.00', 1_000],
])('%j is an amount', (text, number) => expect(valueOf(Price, text)).toBe(number));

test.each([
  '1.000',
  '1.000,00',
  '1,000.00',
  '12,50',
  '1 000',
  "1'000",
  '١٢',
  '1e3',
  '0x10',
  '.5',
  '5.',
  '-1',
])('%j is no amount', (text) => expect(Value.Check(Price, valueOf(Price, text))).toBe(false));
