import { expect, test } from 'vitest';
import { record, tableOf } from './output.ts';

test('aligns columns, and numbers to the right', () => {
  const text = tableOf([
    { id: 1, name: 'Gala', left: 5 },
    { id: 12, name: 'Launch day', left: 1000 },
  ]);
  expect(text).toBe(['id  name        left', ' 1  Gala           5', '12  Launch day  1000'].join('\n'));
});

test('counts Unicode characters, and leaves no spaces at the end of a line', () => {
  const text = tableOf([
    { name: 'Å🎟', x: 'y' },
    { name: 'abcde', x: '' },
  ]);
  expect(text).toBe('name   x\nÅ🎟     y\nabcde');
});

test('prints more rows than fit on the stack as arguments', () => {
  const rows = Array.from({ length: 250_000 }, (_, id) => ({ id }));
  expect(tableOf(rows).length).toBeGreaterThan(rows.length);
});

test('prints "(none)" without rows', () => {
  expect(tableOf([])).toBe('(none)');
});

test('prints times in UTC to the second, booleans as words, and null as a dash', () => {
  const fields = { at: new Date('2026-11-21T09:00:00.123Z'), active: false, ends: null };
  expect(record(fields)).toBe('at      2026-11-21T09:00:00Z\nactive  no\nends    –');
});

test('replaces control characters in stored text', () => {
  expect(record({ name: 'a\u001b[31m\nb' })).toBe('name  a?[31m?b');
});
