import { EventEmitter } from 'node:events';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLargeCalls } from './large-calls.ts';

class Response extends EventEmitter {
  closed = false;

  close(): void {
    this.closed = true;
    this.emit('close');
  }
}

function setUp(isShared = true) {
  const waitForStart = createLargeCalls(() => isShared, 5_000);
  const started: string[] = [];
  const refused: string[] = [];
  const responses = new Map<string, Response>();
  const call = (name: string, partnerId = 1) => {
    const response = new Response();
    responses.set(name, response);
    waitForStart(partnerId, response).then(
      () => started.push(name),
      () => refused.push(name),
    );
  };
  return { call, close: (name: string) => responses.get(name)!.close(), started, refused };
}

test('without single calls, large calls start at once', async () => {
  const { call, started } = setUp(false);
  for (const name of ['a', 'b', 'c']) call(name);
  await yieldToEventLoop();
  expect(started).toEqual(['a', 'b', 'c']);
});

test('beside single calls they start one at a time, each when the one before is answered', async () => {
  const { call, close, started } = setUp();
  for (const name of ['a', 'b', 'c']) call(name);
  await expect.poll(() => started).toEqual(['a']);
  close('a');
  await expect.poll(() => started, { interval: 1 }).toEqual(['a', 'b']);
  close('b');
  await expect.poll(() => started).toEqual(['a', 'b', 'c']);
});

test('while the process is busy none starts, until one has waited long enough', async () => {
  const { call, close, started } = setUp();
  const startedAt = performance.now();
  call('a');
  await yieldToEventLoop();
  call('b');
  close('a');
  // An event loop that always has an immediate never sleeps.
  while (started.length < 2) await yieldToEventLoop();
  const waitedMs = performance.now() - startedAt;
  expect(waitedMs).toBeGreaterThanOrEqual(99);
});

test('a call that is not answered delays the others for a while only', async () => {
  const { call, started } = setUp();
  for (const name of ['a', 'b', 'c']) call(name);
  await expect.poll(() => started).toEqual(['a', 'b', 'c']);
});

test('partners are served in turn, and a call of a client that has left never starts', async () => {
  const { call, close, started, refused } = setUp();
  for (let count = 0; count < 20; count++) call(`many ${count}`);
  await expect.poll(() => refused).toEqual(['many 17', 'many 18', 'many 19']);
  call('left', 2);
  call('one', 3);
  close('left');
  close('many 0');
  await expect.poll(() => started.slice(0, 3)).toEqual(['many 0', 'many 1', 'one']);
});
