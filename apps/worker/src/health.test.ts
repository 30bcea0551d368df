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

test('an idle worker is healthy for any time', () => {
  expect(statusOf({})).toBe('ok');
});

test('a worker that makes progress is healthy with any backlog', () => {
  expect(statusOf({ idleMs: 1_000, backlog: waiting(3_600_000) })).toBe('ok');
});

test('a worker without progress is healthy until work has waited too long', () => {
  expect(statusOf({ backlog: waiting(1_000) })).toBe('ok');
});

test('a worker is stalled if batches wait too long and no job has finished in that time', () => {
  expect(statusOf({ idleMs: 1_001, backlog: waiting(1_001) })).toBe('stalled');
});

test('a worker is healthy while all remaining jobs wait for their next attempt', () => {
  const stuck = { idleMs: 5_000, backlog: waiting(5_000) };
  expect(statusOf({ ...stuck, jobs: { ...noJobs, delayed: 1 } })).toBe('ok');
  expect(statusOf({ ...stuck, jobs: { ...noJobs, delayed: 1, waiting: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: { ...noJobs, delayed: 1, active: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: { ...noJobs, failed: 1 } })).toBe('stalled');
  expect(statusOf({ ...stuck, jobs: null })).toBe('stalled');
});

test('a queue without a backlog in Postgres is judged by its waiting jobs', () => {
  const alone = (differing: Partial<QueueProgress>) =>
    statusOf({}, { queues: { mail: { idleMs: 1_001, jobs: noJobs, ...differing } } });
  expect(alone({})).toBe('ok');
  expect(alone({ jobs: { ...noJobs, waiting: 1 } })).toBe('stalled');
  expect(alone({ jobs: { ...noJobs, waiting: 1 }, idleMs: 1_000 })).toBe('ok');
  // Another worker may be processing it.
  expect(alone({ jobs: { ...noJobs, active: 1 } })).toBe('ok');
  expect(alone({ jobs: null })).toBe('ok');
});

test('a busy queue does not hide a stuck one', () => {
  const busy = { idleMs: 0, jobs: { ...noJobs, waiting: 9_000, active: 16 }, backlog: waiting(5_000) };
  const stuck = { idleMs: 5_000, jobs: { ...noJobs, waiting: 1 } };
  expect(statusOf({}, { queues: { finalize: busy, mail: { ...stuck, idleMs: 0 } } })).toBe('ok');
  expect(statusOf({}, { queues: { finalize: busy, mail: stuck } })).toBe('stalled');
});

test('a worker with a hanging task is stalled, even if dependencies are down', () => {
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

test('failed batches do not make a worker unhealthy', () => {
  expect(statusOf({ backlog: { ...nothing, failedBatches: 7 } })).toBe('ok');
});

test('health includes its evidence', () => {
  expect(judge(idleWorker, STALLED_AFTER_MS).progress).toBe(idleWorker);
});
