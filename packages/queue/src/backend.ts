import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { QueueTarget } from './queue-url.ts';

export const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A connection that has been silent for this long while an answer is due is replaced: a host or a NAT that forgot it says
 * nothing. The consumer's limit is longer than BullMQ ever waits for a job (10 s).
 */
export const SILENCE_MS = { producer: 5_000, consumer: 15_000 };

/** A connection to the server of the queues, in the role of producer or consumer. */
export interface QueueBackend {
  /** Returns a queue to add jobs to. The caller closes it before the backend. */
  queue(name: string): Queue;
  /** Returns a worker that runs the jobs of a queue. The caller closes it before the backend. */
  worker(name: string, processor: Processor, settings: Omit<WorkerOptions, 'connection' | 'prefix'>): Worker;
  /** Returns whether a job that is added now can be expected to arrive. */
  isUp(): boolean;
  /** Returns why the queue is down, as far as the connection knows; null while it is up. */
  problem(): string | null;
  /** Resolves when the queue answers. Throws UnsafeQueueError if it could lose jobs; rejects if it is down. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** The queue is configured so that it could lose jobs. */
export class UnsafeQueueError extends Error {
  override name = 'UnsafeQueueError';
}

/** The queue of an installation. */
export interface QueueOptions {
  target: QueueTarget;
  /** Separates installations that share a server. */
  namespace: string;
  /** Called with connection errors, once per attempt to connect. */
  onError: (error: Error) => void;
}

export interface BackendOptions extends QueueOptions {
  role: 'producer' | 'consumer';
}
