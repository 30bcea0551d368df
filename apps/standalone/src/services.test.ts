import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { lowerPriority } from './services.ts';

test('a process with lowered priority yields the CPU to all others', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  lowerPriority(child.pid!);
  expect(getPriority(child.pid)).toBe(constants.priority.PRIORITY_LOW);
  child.kill();
});

test('a process that has ended causes no error', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  expect(() => lowerPriority(child.pid!)).not.toThrow();
});
