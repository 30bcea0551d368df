import { Failure, Unreachable } from '@floodgate/command';
import { describe, expect, test } from 'vitest';
import { waitForServers } from './set-up.ts';

describe('waiting for a server', () => {
  test('continues while it cannot be reached', async () => {
    let tries = 0;
    const answer = await waitForServers(5_000, () => {
      tries += 1;
      return tries < 2 ? Promise.reject(new Unreachable('down')) : Promise.resolve('up');
    });
    expect({ answer, tries }).toEqual({ answer: 'up', tries: 2 });
  });

  test('ends at the deadline, and immediately if waiting cannot help', async () => {
    await expect(waitForServers(0, () => Promise.reject(new Unreachable('down')))).rejects.toThrow('down');
    await expect(waitForServers(60_000, () => Promise.reject(new Failure('refused')))).rejects.toThrow(
      'refused',
    );
  });
});
