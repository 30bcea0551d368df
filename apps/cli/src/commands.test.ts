import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { stateOf } from './key.ts';
import { retryUntil } from './migrate.ts';
import { Failure, Unreachable } from './failures.ts';
import { speaksOf } from './redrive.ts';
import { settingsOf, windowOf } from './ticket.ts';

const at = (time: string) => new Date(`2026-11-21T${time}Z`);

it('a key is open until it expires or is revoked', () => {
  const now = at('09:00:00');
  expect(stateOf({ revokedAt: null, expiresAt: null }, now)).toBe('open');
  expect(stateOf({ revokedAt: null, expiresAt: at('09:00:01') }, now)).toBe('open');
  expect(stateOf({ revokedAt: null, expiresAt: now }, now)).toBe('expired');
  expect(stateOf({ revokedAt: at('08:00:00'), expiresAt: at('08:30:00') }, now)).toBe('revoked');
});

describe('the settings of a ticket', () => {
  it('are those that were given', () => {
    expect(settingsOf({ by: 'jane' })).toEqual({});
    expect(settingsOf({ price: 0, benefits: '', capacity: 0 })).toEqual({
      price: 0,
      benefits: '',
      capacity: 0,
    });
    expect(settingsOf({ active: true })).toEqual({ active: true });
    expect(settingsOf({ inactive: true })).toEqual({ active: false });
  });

  it('open an edge of the sales window with "none"', () => {
    expect(settingsOf({ saleStarts: 'none', saleEnds: at('10:00:00') })).toEqual({
      saleStartsAt: null,
      saleEndsAt: at('10:00:00'),
    });
  });
});

it('a sales window is told in words', () => {
  expect(windowOf({ saleStartsAt: null, saleEndsAt: null })).toBe('any time');
  expect(windowOf({ saleStartsAt: at('09:00:00'), saleEndsAt: null })).toBe('from 2026-11-21T09:00:00Z');
  expect(windowOf({ saleStartsAt: at('09:00:00'), saleEndsAt: at('10:00:00') })).toBe(
    'from 2026-11-21T09:00:00Z until 2026-11-21T10:00:00Z',
  );
});

it('a failed job is obsolete when one of its batches is redriven', () => {
  const [a, b] = [randomUUID(), randomUUID()];
  expect(speaksOf({ batchIds: [a] }, new Set([a, b]))).toBe(true);
  expect(speaksOf({ batchIds: [a, b] }, new Set([a]))).toBe(true);
  expect(speaksOf({ batchIds: [a] }, new Set([b]))).toBe(false);
  expect(speaksOf({ batchId: a }, new Set([a]))).toBe(false);
});

describe('waiting for a server', () => {
  it('goes on while it cannot be reached', async () => {
    let tries = 0;
    const answer = await retryUntil(Date.now() + 5_000, () => {
      tries += 1;
      return tries < 2 ? Promise.reject(new Unreachable('down')) : Promise.resolve('up');
    });
    expect({ answer, tries }).toEqual({ answer: 'up', tries: 2 });
  });

  it('ends at the deadline, and at once where waiting cannot help', async () => {
    await expect(retryUntil(0, () => Promise.reject(new Unreachable('down')))).rejects.toThrow('down');
    const later = Date.now() + 60_000;
    await expect(retryUntil(later, () => Promise.reject(new Failure('refused')))).rejects.toThrow('refused');
  });
});
