import type { Consumer, Producer, QueueBacklog, QueueCounts } from '@floodgate/queue';
import { isHanging, withDeadline, type Health, type Rounds, type RoundsProgress } from '@floodgate/service';

/** How one queue that this worker consumes goes on. */
export interface QueueProgress {
  /** Since a job of it was finished by this process, well or not. */
  idleMs: number;
  /** Of all workers together. Null where the queue does not answer. */
  jobs: QueueCounts | null;
  /** Null where Postgres does not answer; absent where Postgres knows no more than the queue. */
  backlog?: QueueBacklog | null;
}

/** What the judgement rests on. */
export interface Progress {
  queue: 'up' | 'down';
  /** Why it is down. */
  queueProblem: string | null;
  rounds: RoundsProgress;
  queues: Record<string, QueueProgress>;
}

export type WorkerHealth = Health<Progress>;

const COUNT_WITHIN_MS = 500;

/** What moves in a worker. */
interface Moving {
  consumer: Consumer;
  producer: Producer;
  rounds: Rounds;
  backlogs: Record<string, () => Promise<QueueBacklog>>;
}

/** Returns how everything goes on. What does not answer reads null. */
export async function readProgress({ consumer, producer, rounds, backlogs }: Moving): Promise<Progress> {
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
    rounds: rounds.progress(),
    queues: Object.fromEntries(await Promise.all(Object.entries(consumer.idleMs()).map(readQueue))),
  };
}

/** Null where the queue does not answer before whoever probes the worker's health loses patience. */
async function countJobs(producer: Producer, queue: string): Promise<QueueCounts | null> {
  return withDeadline(producer.counts(queue), COUNT_WITHIN_MS, () => null).catch(() => null);
}

/** Judges a worker by its progress, each queue by itself: a busy one does not hide one that is stuck. */
export function judge(progress: Progress, stalledAfterMs: number): WorkerHealth {
  const queues = Object.values(progress.queues);
  if (isHanging(progress.rounds, stalledAfterMs)) return { status: 'stalled', progress };
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
