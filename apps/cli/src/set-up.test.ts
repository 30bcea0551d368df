import { Failure, Unreachable } from '@floodgate/command';
import { describe, expect, test } from 'vitest';
import { retryUntil } from './set-up.ts';

describe('waiting for a server', () => {
  test('goes on while it cannot be reached', async () => {
    let tries = 0;
    const answer = await retryUntil(Date.now() + 5_000, () => {
      tries += 1;
      return tries < 2 ? Promise.reject(new Unreachable('down')) : Promise.resolve('up');
    });
    expect({ answer, tries }).toEqual({ answer: 'up', tries: 2 });
  });

  test('ends at the deadline, and at once where waiting cannot help', async () => {
    await expect(retryUntil(0, () => Promise.reject(new Unreachable('down')))).rejects.toThrow('down');
    const later = Date.now() + 60_000;
    await expect(retryUntil(later, () => Promise.reject(new Failure('refused')))).rejects.toThrow('refused');
  });
});
