import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { judge, serveHealth, type Health, type Progress } from './health.ts';

const STALLED_AFTER_MS = 1_000;

const idle: Progress = {
  idleMs: 3_600_000,
  sinceRelayRoundMs: 50,
  queue: 'up',
  jobs: { waiting: 0, active: 0, delayed: 0, failed: 0 },
  backlog: { pendingBatches: 0, failedBatches: 0, oldestPendingMs: null },
};
const waiting = (oldestPendingMs: number) => ({ pendingBatches: 1, failedBatches: 0, oldestPendingMs });

const statusOf = (differing: Partial<Progress>) => judge({ ...idle, ...differing }, STALLED_AFTER_MS).status;

test('a worker that has nothing to do is well, however long that lasts', () => {
  expect(statusOf({})).toBe('ok');
});

test('a worker that moves is well, however much waits', () => {
  expect(statusOf({ idleMs: 1_000, backlog: waiting(3_600_000) })).toBe('ok');
});

test('a worker that has not moved is well while nothing has waited for long', () => {
  expect(statusOf({ backlog: waiting(1_000) })).toBe('ok');
});

test('a worker is stalled when batches wait too long and nothing was finished for as long', () => {
  expect(statusOf({ idleMs: 1_001, backlog: waiting(1_001) })).toBe('stalled');
});

test('a worker is well while everything that is left backs off between attempts', () => {
  const stuck = { idleMs: 5_000, backlog: waiting(5_000) };
  expect(statusOf({ ...stuck, jobs: { ...idle.jobs!, delayed: 1 } })).toBe('ok');
  expect(statusOf({ ...stuck, jobs: { ...idle.jobs!, delayed: 1, waiting: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: { ...idle.jobs!, delayed: 1, active: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: { ...idle.jobs!, failed: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: null })).toBe('stalled');
});

test('a worker whose relay hangs is stalled, even where dependencies are away', () => {
  expect(statusOf({ sinceRelayRoundMs: 1_001 })).toBe('stalled');
  expect(statusOf({ sinceRelayRoundMs: 1_001, queue: 'down', backlog: null })).toBe('stalled');
  expect(statusOf({ sinceRelayRoundMs: 1_000 })).toBe('ok');
});

test('a worker without its queue or without Postgres is blocked, not stalled', () => {
  expect(statusOf({ queue: 'down', idleMs: 5_000, backlog: waiting(5_000) })).toBe('blocked');
  expect(statusOf({ backlog: null })).toBe('blocked');
});

test('failed batches wait for an operator, not for the worker', () => {
  expect(statusOf({ backlog: { pendingBatches: 0, failedBatches: 7, oldestPendingMs: null } })).toBe('ok');
});

test('the judgement says what it rests on', () => {
  expect(judge(idle, STALLED_AFTER_MS).progress).toBe(idle);
});

test('whoever asks while the judgement is read waits for the same one; who asks later gets a new one', async () => {
  const read = Promise.withResolvers<Health>();
  const asked = { requests: 0, reads: 0 };
  const server = serveHealth(() => {
    asked.reads += 1;
    return asked.reads === 1 ? read.promise : Promise.resolve(judge(idle, STALLED_AFTER_MS));
  });
  onTestFinished(() => void server.close());
  server.on('request', () => {
    asked.requests += 1;
    if (asked.requests === 20) read.resolve({ status: 'blocked', progress: idle });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health/ready`;
  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503));
  expect(asked.reads).toBe(1);
  expect((await fetch(url)).status).toBe(200);
});
