import { expect, test } from 'vitest';
import { windowOf } from './cli.ts';

const at = (time: string) => new Date(`2026-11-21T${time}Z`);

test('a sales window is written in words', () => {
  expect(windowOf({ saleStartsAt: null, saleEndsAt: null })).toBe('any time');
  expect(windowOf({ saleStartsAt: at('09:00:00'), saleEndsAt: null })).toBe('from 2026-11-21T09:00:00Z');
  expect(windowOf({ saleStartsAt: at('09:00:00'), saleEndsAt: at('10:00:00') })).toBe(
    'from 2026-11-21T09:00:00Z until 2026-11-21T10:00:00Z',
  );
});
