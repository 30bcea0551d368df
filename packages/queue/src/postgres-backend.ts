import { createPostgresBackend, Queue, Worker } from 'bullmq';
import { Client, Pool, type ClientConfig } from 'pg';
import { reasonOf } from '@floodgate/service/failure';
import { CONNECT_TIMEOUT_MS, SILENCE_MS, type BackendOptions, type QueueBackend } from './backend.ts';
import type { QueueTarget } from './queue-url.ts';

/** A queue in Postgres. */
export function postgresBackend(
  target: Extract<QueueTarget, { kind: 'postgres' }>,
  options: BackendOptions,
): QueueBackend {
  const connection = {
    connectionString: target.connectionString,
    schema: postgresSchema(options.namespace),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // The pool closes the connection with its query. BullMQ adds keepalive where it listens without a query.
    query_timeout: SILENCE_MS[options.role],
    max: 4,
    Client: ListenedClient,
  };
  const probe = new Pool({ ...connection, max: 1 });
  probe.on('error', options.onError);
  let problem: string | null = null;
  return {
    // BullMQ types a queue by its backend; what is used here is common to both.
    queue: (name) => new Queue(name, { connection }, createPostgresBackend) as unknown as Queue,
    worker: (name, processor, settings) =>
      new Worker(name, processor, { ...settings, connection }, createPostgresBackend) as unknown as Worker,
    // Without a connection to watch, an add simply fails; the queue shares the fate of the database.
    isUp: () => true,
    problem: () => problem,
    verify: async () => {
      try {
        await probe.query(`select 1 from "${connection.schema}".migration limit 1`);
        problem = null;
      } catch (error) {
        problem = reasonOf(error);
        throw error;
      }
    },
    close: () => probe.end(),
  };
}

/** Returns BullMQ's schema for a namespace: the Postgres counterpart of a key prefix. */
export function postgresSchema(namespace: string): string {
  return `${namespace.replaceAll(/[^a-z0-9_]/gi, '_')}_queue`;
}

/** Returns whether a query got no answer in time. */
export const isSilence = (error: Error) => error.message === 'Query read timeout';

/**
 * BullMQ takes connections from the pool without listening to their errors, and an error that nobody listens to ends
 * the process. The statement under which a connection is lost reports it anyway.
 */
class ListenedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}
