import { expect, test } from 'vitest';
import { judge, type Progress, type QueueProgress } from './health.ts';

const STALLED_AFTER_MS = 1_000;

const noJobs = { waiting: 0, active: 0, delayed: 0, failed: 0 };
const nothing = { pendingBatches: 0, pendingChanges: 0, failedBatches: 0, oldestPendingMs: null };
const idle: QueueProgress = { idleMs: 3_600_000, jobs: noJobs, backlog: nothing };
const idleWorker: Progress = {
  queue: 'up',
  queueProblem: null,
  tasks: { relay: { sinceLastMs: 50, intervalMs: 100 } },
  queues: { finalize: idle },
};
const waiting = (oldestPendingMs: number) => ({
  pendingBatches: 1,
  pendingChanges: 0,
  failedBatches: 0,
  oldestPendingMs,
});

const statusOf = (differing: Partial<QueueProgress>, worker: Partial<Progress> = {}) =>
  judge({ ...idleWorker, queues: { finalize: { ...idle, ...differing } }, ...worker }, STALLED_AFTER_MS)
    .status;

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
  expect(statusOf({ ...stuck, jobs: { ...noJobs, delayed: 1 } })).toBe('ok');
  expect(statusOf({ ...stuck, jobs: { ...noJobs, delayed: 1, waiting: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: { ...noJobs, delayed: 1, active: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: { ...noJobs, failed: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: null })).toBe('stalled');
});

test('a queue of which Postgres knows nothing is judged by what waits in it', () => {
  const alone = (differing: Partial<QueueProgress>) =>
    statusOf({}, { queues: { mail: { idleMs: 1_001, jobs: noJobs, ...differing } } });
  expect(alone({})).toBe('ok');
  expect(alone({ jobs: { ...noJobs, waiting: 1 } })).toBe('stalled');
  expect(alone({ jobs: { ...noJobs, waiting: 1 }, idleMs: 1_000 })).toBe('ok');
  // Another worker may have it under way.
  expect(alone({ jobs: { ...noJobs, active: 1 } })).toBe('ok');
  expect(alone({ jobs: null })).toBe('ok');
});

test('a busy queue does not hide one that is stuck', () => {
  const busy = { idleMs: 0, jobs: { ...noJobs, waiting: 9_000, active: 16 }, backlog: waiting(5_000) };
  const stuck = { idleMs: 5_000, jobs: { ...noJobs, waiting: 1 } };
  expect(statusOf({}, { queues: { finalize: busy, mail: { ...stuck, idleMs: 0 } } })).toBe('ok');
  expect(statusOf({}, { queues: { finalize: busy, mail: stuck } })).toBe('stalled');
});

test('a worker with a task that hangs is stalled, even if dependencies are down', () => {
  const since = (sinceLastMs: number) => ({
    tasks: { ...idleWorker.tasks, expiry: { sinceLastMs, intervalMs: 60_000 } },
  });
  expect(statusOf({}, since(61_001))).toBe('stalled');
  expect(statusOf({ backlog: null }, { ...since(61_001), queue: 'down' })).toBe('stalled');
  expect(statusOf({}, since(61_000))).toBe('ok');
});

test('a worker without its queue or without Postgres is blocked, not stalled', () => {
  expect(statusOf({ idleMs: 5_000, backlog: waiting(5_000) }, { queue: 'down' })).toBe('blocked');
  expect(statusOf({ backlog: null })).toBe('blocked');
});

test('failed batches wait for an operator, not for the worker', () => {
  expect(statusOf({ backlog: { ...nothing, failedBatches: 7 } })).toBe('ok');
});

test('the judgement says what it rests on', () => {
  expect(judge(idleWorker, STALLED_AFTER_MS).progress).toBe(idleWorker);
});
