import { describe, expect, test } from 'vitest';
import { settingsIn, windowOf } from './cli.ts';

const at = (time: string) => new Date(`2026-11-21T${time}Z`);

describe('the settings of a ticket', () => {
  test('are those that were given', () => {
    expect(settingsIn({})).toEqual({});
    const given = { active: true, price: 0, benefits: '', capacity: 0 } as const;
    expect(settingsIn(given)).toEqual(given);
    expect(settingsIn({ active: true })).toEqual({ active: true });
    expect(settingsIn({ inactive: true })).toEqual({ active: false });
    expect(settingsIn({ by: 'Ann' })).toEqual({ lastModifiedBy: 'Ann' });
  });

  test('open an edge of the sales window with "none"', () => {
    expect(settingsIn({ saleStarts: 'none', saleEnds: at('10:00:00') })).toEqual({
      saleStartsAt: null,
      saleEndsAt: at('10:00:00'),
    });
  });
});

test('a sales window is told in words', () => {
  expect(windowOf({ saleStartsAt: null, saleEndsAt: null })).toBe('any time');
  expect(windowOf({ saleStartsAt: at('09:00:00'), saleEndsAt: null })).toBe('from 2026-11-21T09:00:00Z');
  expect(windowOf({ saleStartsAt: at('09:00:00'), saleEndsAt: at('10:00:00') })).toBe(
    'from 2026-11-21T09:00:00Z until 2026-11-21T10:00:00Z',
  );
});
