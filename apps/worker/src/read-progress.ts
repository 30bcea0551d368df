import { within, type Repetition } from '@floodgate/service';
import type { Consumer, Producer, QueueBacklog, QueueCounts, Round } from '@floodgate/queue';
import type { Progress, QueueProgress } from './health.ts';

const COUNT_WITHIN_MS = 500;

/** What moves in a worker. */
export interface Moving {
  consumer: Consumer;
  producer: Producer;
  /** Those that the consumer consumes. */
  queues: readonly string[];
  rounds: readonly (Round & Repetition)[];
  backlogs: Readonly<Record<string, () => Promise<QueueBacklog>>>;
}

/** Returns how everything goes on. What does not answer reads null. */
export async function readProgress({ queues, rounds, ...moving }: Moving): Promise<Progress> {
  const queueProblem = moving.consumer.problem();
  const progress = await Promise.all(queues.map((queue) => readQueue(queue, moving)));
  const roundsSeen = rounds.map(({ name, intervalMs, sinceLastRoundMs }) => {
    return [name, { sinceLastMs: Math.round(sinceLastRoundMs()), intervalMs }] as const;
  });
  return {
    queue: queueProblem === null ? 'up' : 'down',
    queueProblem,
    rounds: Object.fromEntries(roundsSeen),
    queues: Object.fromEntries(queues.map((queue, index) => [queue, progress[index]!])),
  };
}

async function readQueue(
  queue: string,
  { consumer, producer, backlogs }: Pick<Moving, 'consumer' | 'producer' | 'backlogs'>,
): Promise<QueueProgress> {
  const [jobs, backlog] = await Promise.all([
    countJobs(producer, queue),
    backlogs[queue]?.().catch(() => null),
  ]);
  return { idleMs: Math.round(consumer.idleMs(queue)), jobs, ...(backlog !== undefined && { backlog }) };
}

/** Null where the queue does not answer before whoever probes the worker's health loses patience. */
async function countJobs(producer: Producer, queue: string): Promise<QueueCounts | null> {
  if (!producer.isUp()) return null;
  return (await within(COUNT_WITHIN_MS, producer.counts(queue)).catch(() => null)) ?? null;
}
