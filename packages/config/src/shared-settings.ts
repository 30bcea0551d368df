import { FormatRegistry, Type } from '@sinclair/typebox';
import { QUEUE_URL_FORMS } from '@floodgate/queue/queue-url';
import { whole } from './load-config.ts';
import { isPostgresUrl, isQueueUrl } from './urls.ts';

FormatRegistry.Set('postgres-url', isPostgresUrl);
FormatRegistry.Set('queue-url', isQueueUrl);

/** Settings that the API, the worker and the CLI have in common. One description: README and errors quote it. */
export const databaseSettings = {
  DATABASE_URL: Type.String({
    format: 'postgres-url',
    description: 'Postgres, postgres://user:password@host:port/database',
  }),
};

export const queueSettings = {
  QUEUE_URL: Type.String({
    format: 'queue-url',
    description: `the queue: ${QUEUE_URL_FORMS}`,
  }),
  QUEUE_NAMESPACE: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    default: 'floodgate',
    description: 'separates installations that share a queue server: a–z, 0–9 and _, starting with a letter',
  }),
  FINALIZE_ATTEMPTS: whole('attempts before a batch is given up', { minimum: 1, maximum: 50, default: 10 }),
  FINALIZE_BACKOFF_MS: whole('wait before the second attempt; doubles each time', {
    minimum: 1,
    maximum: 60_000,
    default: 500,
  }),
};

export const processSettings = {
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info', description: 'fatal, error, warn, info, debug, trace or silent' },
  ),
  SHUTDOWN_TIMEOUT_MS: whole('how long a stop may take', { minimum: 100, maximum: 600_000, default: 10_000 }),
};
