import { withDeadline, type Repetition } from '@floodgate/service';
import type { Consumer, Producer, QueueCounts, Round, WorkerCapability } from '@floodgate/queue';
import type { Progress, QueueProgress } from './health.ts';

const COUNT_WITHIN_MS = 500;

/** What moves in a worker. */
export interface Moving {
  consumer: Consumer;
  producer: Producer;
  rounds: readonly (Round & Repetition)[];
  backlogs: NonNullable<ReturnType<WorkerCapability['open']>['backlogs']>;
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
    rounds: Object.fromEntries(
      rounds.map(({ name, intervalMs, sinceLastRoundMs }) => [
        name,
        { sinceLastMs: Math.round(sinceLastRoundMs()), intervalMs },
      ]),
    ),
    queues: Object.fromEntries(await Promise.all(Object.entries(consumer.idleMs()).map(readQueue))),
  };
}

/** Null where the queue does not answer before whoever probes the worker's health loses patience. */
async function countJobs(producer: Producer, queue: string): Promise<QueueCounts | null> {
  return withDeadline(producer.counts(queue), COUNT_WITHIN_MS, () => null).catch(() => null);
}
