import { reasonOf, repeat, systemClock, type Logger } from '@floodgate/service';
import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import { UnsafeQueueError, type QueueOptions, type Role } from './settings.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';

/** A connection to the server of the queues, in the role of producer or consumer. */
export interface QueueBackend {
  /** Returns a queue to add jobs to. The caller closes it before the backend. */
  queue(name: string): Queue;
  /** Returns a worker that runs the jobs of a queue. The caller closes it before the backend. */
  worker(name: string, processor: Processor, settings: Omit<WorkerOptions, 'connection' | 'prefix'>): Worker;
  /** Returns whether the server is connected, so that an add can succeed. */
  isUp(): boolean;
  /** Returns why the queue is down, by the errors of the connection, or null while it is up. */
  problem(): string | null;
  /**
   * Resolves when the queue answers. Throws UnsafeQueueError if it could lose jobs; rejects if it is down.
   */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the backend that QUEUE_URL names. Its server can be down. */
export function openBackend(options: QueueOptions, role: Role): QueueBackend {
  const { target } = options;
  if (target.kind === 'postgres') return postgresBackend(target.connectionString, options, role);
  return redisBackend(target, options, role);
}

const POLL_INTERVAL_MS = 500;
/**
 * Interval of the verification while the queue is up: the settings of the server can change under open
 * connections.
 */
const VERIFY_INTERVAL_MS = 5_000;

/**
 * Verifies the queue now and repeatedly, and logs every change once. Resolves after the first verification,
 * even if the queue is down: a process can start without its queue. Throws UnsafeQueueError if the queue
 * could lose jobs or is not prepared. The returned function ends the watch.
 */
export async function watchQueue(
  queue: Pick<QueueBackend, 'problem' | 'verify'>,
  log: Pick<Logger, 'warn' | 'error'>,
  clock = systemClock,
) {
  let reported: string | null = null;
  let verifiedAt = -Infinity;
  function report(problem: string | null, unsafe?: Error) {
    if (problem === reported) return;
    reported = problem;
    const state = problem === null ? 'up' : 'down';
    // The process continues: the API needs no queue, and the relay finds lost batches.
    if (unsafe) log.error({ err: unsafe }, 'the queue could lose jobs');
    else log.warn({ queue: state, problem }, `the queue is ${state}`);
  }
  function problemOf(error: unknown) {
    if (error instanceof UnsafeQueueError) throw error;
    return queue.problem() ?? reasonOf(error);
  }
  async function look() {
    // While it is down, every poll verifies: an open connection does not show that the server's settings were
    // corrected.
    const isUp = reported === null && queue.problem() === null;
    if (!isUp || clock.now() - verifiedAt > VERIFY_INTERVAL_MS) {
      verifiedAt = clock.now();
      report(await queue.verify().then(() => null, problemOf));
    }
    return 'done' as const;
  }
  await look();
  const watch = repeat(look, POLL_INTERVAL_MS, (error) => report(error.message, error), clock);
  return () => void watch.stop();
}
