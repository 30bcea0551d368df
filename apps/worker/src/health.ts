import type { Backlogs, Consumer, Producer, QueueBacklog, QueueCounts } from '@floodgate/queue';
import { isHanging, withDeadline, type Health, type PeriodicTasks } from '@floodgate/service';

/** Progress of a queue that this worker consumes. */
export interface QueueProgress {
  /** Time since this process finished a job from the queue, successfully or not. */
  idleMs: number;
  /** Jobs of all workers. Null if the queue does not answer. */
  jobs: QueueCounts | null;
  /** Unfinished work in Postgres. Null if Postgres does not answer; absent if the queue is the only source. */
  backlog?: QueueBacklog | null | undefined;
}

/** The evidence for a worker's health. */
export type Progress = Awaited<ReturnType<typeof readProgress>>;
export type WorkerHealth = Health<Progress>;

const COUNT_WITHIN_MS = 500;

/** Returns the progress of queues and tasks. Figures of a server that does not answer are null. */
export async function readProgress(
  consumer: Consumer,
  producer: Producer,
  tasks: PeriodicTasks,
  backlogs: Backlogs,
) {
  const queueProblem = consumer.problem();
  const isUp = queueProblem === null;
  const readQueue = async ([queue, idleMs]: [string, number]): Promise<[string, QueueProgress]> => {
    const counting = isUp ? producer.counts(queue) : Promise.resolve(null);
    const [jobs, backlog] = await Promise.all([
      // A health probe must not time out while the queue does not answer.
      withDeadline(counting, COUNT_WITHIN_MS, () => null).catch(() => null),
      backlogs[queue]?.().catch(() => null),
    ]);
    return [queue, { idleMs, jobs, backlog }];
  };
  const queues = await Promise.all(Object.entries(consumer.idleMs()).map(readQueue));
  return {
    queue: isUp ? ('up' as const) : ('down' as const),
    /** Reason if the queue is down. */
    queueProblem,
    tasks: tasks.progress(),
    queues: Object.fromEntries(queues),
  };
}

/** Returns the health of a worker. Each queue is checked separately: a busy queue must not hide a stuck one. */
export function judge(progress: Progress, stalledAfterMs: number): WorkerHealth {
  const queues = Object.values(progress.queues);
  if (isHanging(progress.tasks, stalledAfterMs)) return { status: 'stalled', progress };
  const isBlocked = progress.queue === 'down' || queues.some(({ backlog }) => backlog === null);
  if (isBlocked) return { status: 'blocked', progress };
  return { status: queues.some((queue) => isStuck(queue, stalledAfterMs)) ? 'stalled' : 'ok', progress };
}

/**
 * Returns whether work waits although everything it needs is available. A queue is not stuck if its only jobs
 * have failed and wait for their next attempt.
 */
function isStuck({ idleMs, jobs, backlog }: QueueProgress, stalledAfterMs: number) {
  const isWaiting = backlog
    ? (backlog.oldestPendingMs ?? 0) > stalledAfterMs
    : jobs !== null && jobs.waiting > 0;
  const isBackingOff = jobs !== null && jobs.delayed > 0 && jobs.waiting + jobs.active === 0;
  return isWaiting && idleMs > stalledAfterMs && !isBackingOff;
}
