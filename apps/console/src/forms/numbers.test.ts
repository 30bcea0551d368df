import { expect, test } from 'vitest';
import { amountText, wholeText } from './numbers.ts';

test('a whole number has its thousands grouped as its language writes them, or not at all', () => {
  expect(['5000', ' 5.000 ', '1.234.567'].map((text) => wholeText(text, 'de'))).toEqual([
    '5000',
    '5000',
    '1234567',
  ]);
  expect(['5000', ' 5,000 ', '1,234,567'].map((text) => wholeText(text, 'en'))).toEqual([
    '5000',
    '5000',
    '1234567',
  ]);
});

test('what could be another number in that language stays as it is', () => {
  for (const text of ['5,000', '5.00', '50.00.000', '0.500', '5.0000', '1.234,567', '.500', ''])
    expect(wholeText(text, 'de')).toBe(text);
  for (const text of ['5.000', '5,00', '50,00,000', '0,500', '5,0000', '1,234.567', ',500', ''])
    expect(wholeText(text, 'en')).toBe(text);
});

test('an amount has a comma or a point before its decimals', () => {
  expect(['12,50', '12.50', '1.234,50', '1.234', '7'].map((text) => amountText(text, 'de'))).toEqual([
    '12.50',
    '12.50',
    '1234.50',
    '1234',
    '7',
  ]);
  expect(['12.50', '12,50', '1,234.50', '1,234', '7'].map((text) => amountText(text, 'en'))).toEqual([
    '12.50',
    '12.50',
    '1234.50',
    '1234',
    '7',
  ]);
  for (const text of ['5,000', '1.234,567', '12,5,0']) expect(amountText(text, 'de')).toBe(text);
  for (const text of ['5.000', '1,234.567', '12.5.0']) expect(amountText(text, 'en')).toBe(text);
});
