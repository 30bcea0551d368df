import type { QueueTarget } from './settings.ts';

export const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A connection that has been silent for this long while an answer is due is replaced: a host or a NAT that forgot it says
 * nothing. The consumer's limit is longer than BullMQ ever waits for a job (10 s).
 */
export const SILENCE_MS = { producer: 5_000, consumer: 15_000 };

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
