import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** What a response tells of its end. */
class Response extends EventEmitter {
  closed = false;

  close(): void {
    this.closed = true;
    this.emit('close');
  }
}

const partner = (partnerId: number) => ({ partnerId, weight: 1 });

/** By default nobody's patience ends. */
function setUp({ isShared = true, patienceMs = Infinity } = {}) {
  const turns = createTurns({ isShared: () => isShared, patienceMs, answerWithinMs: 5_000 });
  /** Who has begun, in order. */
  const begun: string[] = [];
  const refused: string[] = [];
  const responses = new Map<string, Response>();
  const ask = (name: string, partnerId = 1, response = new Response()) => {
    responses.set(name, response);
    void turns
      .wait(partner(partnerId), response as unknown as ServerResponse)
      .then((mayGoOn) => (mayGoOn ? begun : refused).push(name));
  };
  const close = (name: string) => responses.get(name)!.close();
  return { ask, close, begun, refused, alone: () => (isShared = false) };
}

test('where nobody else is served, large calls come as they like', async () => {
  const { ask, begun } = setUp({ isShared: false });
  for (const name of ['a', 'b', 'c']) ask(name);
  await nextTurn();
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('beside others they come one at a time, each when the one before is answered', async () => {
  const { ask, close, begun } = setUp();
  for (const name of ['a', 'b', 'c']) ask(name);
  await expect.poll(() => begun).toEqual(['a']);
  for (const [done, next] of [
    ['a', 'b'],
    ['b', 'c'],
  ] as const) {
    await nextTurn();
    expect(begun.at(-1)).toBe(done);
    close(done);
    await expect.poll(() => begun.at(-1)).toBe(next);
  }
});

test('who waits when the others have gone need not wait any longer', async () => {
  const { ask, close, begun, alone } = setUp();
  for (const name of ['a', 'b', 'c']) ask(name);
  await expect.poll(() => begun).toEqual(['a']);
  alone();
  close('a');
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
});

test('while the process is busy none begins, until one has waited for long enough', async () => {
  const patienceMs = 100;
  const { ask, close, begun } = setUp({ patienceMs });
  const startedAt = performance.now();
  ask('a');
  await nextTurn();
  ask('b');
  close('a');
  // No turn of the event loop sleeps.
  while (begun.length < 2) await nextTurn();
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(patienceMs);
});

test('one that is not answered keeps the others for so long, and no longer', async () => {
  const { ask, begun } = setUp({ patienceMs: 20 });
  for (const name of ['a', 'b', 'c']) ask(name);
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
});

test('a client that leaves gives its turn back, whether it has begun or not', async () => {
  const { ask, close, begun } = setUp();
  for (const name of ['a', 'b', 'c']) ask(name);
  await expect.poll(() => begun).toEqual(['a']);
  close('b');
  close('a');
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
});

test('partners take turns, and who fills the room keeps nobody out', async () => {
  const { ask, close, begun, refused } = setUp();
  for (let count = 0; count < 20; count++) ask(`many ${count}`, 1);
  await expect.poll(() => refused.length).toBe(3);
  ask('one', 2);
  await expect.poll(() => begun).toEqual(['many 0']);
  close('many 0');
  await expect.poll(() => begun.at(-1)).toBe('one');
  expect(refused).toEqual(['many 17', 'many 18', 'many 19']);
});
