import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { QueueTarget } from './queue-url.ts';

export const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A connection that is silent for so long while an answer is due is given up for a new one: a host or a NAT that forgets
 * it says nothing. A consumer's is longer than BullMQ ever waits for a job (10 s).
 */
export const SILENCE_MS = { producer: 5_000, consumer: 15_000 };

/** One of the parts that a queue has at its backend. */
export interface QueuePart {
  queue: string;
  partition: number;
}

/** A connection to where the queue lives, in the role of producer or consumer. */
export interface QueueBackend {
  /** Parts of each queue, numbered from 0: several where they can lie on several servers. */
  readonly partitions: number;
  /** Returns a part of a queue, to add jobs to and to look at. The caller closes it before the backend. */
  queue(part: QueuePart): Queue;
  /** Returns a worker that runs the jobs of a part of a queue. The caller closes it before the backend. */
  worker(
    part: QueuePart,
    processor: Processor,
    settings: Omit<WorkerOptions, 'connection' | 'prefix'>,
  ): Worker;
  /** Returns whether a job that is added now can be expected to arrive. */
  isUp(): boolean;
  /** Returns why the queue is down, as far as the connection knows; null while it is up. */
  problem(): string | null;
  /** Resolves when the queue answers. Throws UnsafeQueueError where it could lose jobs; rejects where it is down. */
  verify(): Promise<void>;
  /** Resolves when the connections are closed. */
  close(): Promise<void>;
}

/** The queue is configured so that it could lose jobs. */
export class UnsafeQueueError extends Error {
  override name = 'UnsafeQueueError';
}

/** Where the queue of an installation is. */
export interface QueueOptions {
  target: QueueTarget;
  /** Separates installations that share a server. */
  namespace: string;
  /** Told about connection errors, once per attempt to connect. */
  onError: (error: Error) => void;
}

export interface BackendOptions extends Omit<QueueOptions, 'target'> {
  role: 'producer' | 'consumer';
}
