import type { Consumer, Producer, QueueBacklog, QueueCounts } from '@floodgate/queue';
import {
  isHanging,
  withDeadline,
  type Health,
  type PeriodicTasks,
  type TasksProgress,
} from '@floodgate/service';

/** The progress of one queue that this worker consumes. */
export interface QueueProgress {
  /** Time since this process finished a job of it, successful or not. */
  idleMs: number;
  /** Of all workers together. Null if the queue does not answer. */
  jobs: QueueCounts | null;
  /** Null if Postgres does not answer; absent if Postgres knows no more than the queue. */
  backlog?: QueueBacklog | null;
}

/** The facts behind the judgement. */
export interface Progress {
  queue: 'up' | 'down';
  /** Why it is down. */
  queueProblem: string | null;
  tasks: TasksProgress;
  queues: Record<string, QueueProgress>;
}

export type WorkerHealth = Health<Progress>;

const COUNT_WITHIN_MS = 500;

/** The running components of a worker. */
interface Moving {
  consumer: Consumer;
  producer: Producer;
  tasks: PeriodicTasks;
  backlogs: Record<string, () => Promise<QueueBacklog>>;
}

/** Returns the progress of everything; null for a server that does not answer. */
export async function readProgress({ consumer, producer, tasks, backlogs }: Moving): Promise<Progress> {
  const queueProblem = consumer.problem();
  const readQueue = async ([queue, idleMs]: [string, number]): Promise<[string, QueueProgress]> => {
    const [jobs, backlog] = await Promise.all([
      queueProblem === null ? countJobs(producer, queue) : null,
      backlogs[queue]?.().catch(() => null),
    ]);
    return [queue, { idleMs, jobs, ...(backlog !== undefined && { backlog }) }];
  };
  return {
    queue: queueProblem === null ? 'up' : 'down',
    queueProblem,
    tasks: tasks.progress(),
    queues: Object.fromEntries(await Promise.all(Object.entries(consumer.idleMs()).map(readQueue))),
  };
}

/** Null if the queue does not answer before a health probe would time out. */
async function countJobs(producer: Producer, queue: string): Promise<QueueCounts | null> {
  return withDeadline(producer.counts(queue), COUNT_WITHIN_MS, () => null).catch(() => null);
}

/** Judges a worker by its progress, each queue by itself: a busy one does not hide one that is stuck. */
export function judge(progress: Progress, stalledAfterMs: number): WorkerHealth {
  const queues = Object.values(progress.queues);
  if (isHanging(progress.tasks, stalledAfterMs)) return { status: 'stalled', progress };
  const isBlocked = progress.queue === 'down' || queues.some(({ backlog }) => backlog === null);
  if (isBlocked) return { status: 'blocked', progress };
  return { status: queues.some((queue) => isStuck(queue, stalledAfterMs)) ? 'stalled' : 'ok', progress };
}

/**
 * Idle is fine, but not while work waits and everything it needs is there. That the only jobs left have failed and wait
 * for their next attempt is no worker's fault.
 */
function isStuck({ idleMs, jobs, backlog }: QueueProgress, stalledAfterMs: number): boolean {
  const isWaiting = backlog
    ? (backlog.oldestPendingMs ?? 0) > stalledAfterMs
    : jobs !== null && jobs.waiting > 0;
  const isBackingOff = jobs !== null && jobs.delayed > 0 && jobs.waiting + jobs.active === 0;
  return isWaiting && idleMs > stalledAfterMs && !isBackingOff;
}
