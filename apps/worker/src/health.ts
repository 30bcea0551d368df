import type { Backlogs, Consumer, Producer, QueueBacklog, QueueCounts } from '@floodgate/queue';
import { isHanging, withDeadline, type Health, type PeriodicTasks } from '@floodgate/service';

/** The progress of one queue that this worker consumes. */
export interface QueueProgress {
  /** Time since this process finished a job of it, successful or not. */
  idleMs: number;
  /** Of all workers together. Null if the queue does not answer. */
  jobs: QueueCounts | null;
  /** Null if Postgres does not answer; absent if Postgres knows no more than the queue. */
  backlog?: QueueBacklog | null | undefined;
}

/** The facts behind the judgement. */
export type Progress = Awaited<ReturnType<typeof readProgress>>;

export type WorkerHealth = Health<Progress>;

const COUNT_WITHIN_MS = 500;

/** Returns the progress of everything; null for a server that does not answer. */
export async function readProgress(
  consumer: Consumer,
  producer: Producer,
  tasks: PeriodicTasks,
  backlogs: Backlogs,
) {
  const queueProblem = consumer.problem();
  const readQueue = async ([queue, idleMs]: [string, number]): Promise<[string, QueueProgress]> => {
    const counting = queueProblem === null ? producer.counts(queue) : Promise.reject(new Error(queueProblem));
    const [jobs, backlog] = await Promise.all([
      // A health probe must not time out while the queue does not answer.
      withDeadline(counting, COUNT_WITHIN_MS, () => null).catch(() => null),
      backlogs[queue]?.().catch(() => null),
    ]);
    return [queue, { idleMs, jobs, backlog }];
  };
  return {
    queue: queueProblem === null ? ('up' as const) : ('down' as const),
    /** Why it is down. */
    queueProblem,
    tasks: tasks.progress(),
    queues: Object.fromEntries(await Promise.all(Object.entries(consumer.idleMs()).map(readQueue))),
  };
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
