import type { Logger } from '@floodgate/service';
import { FormatRegistry, Type } from '@sinclair/typebox';
import type { QueueOptions } from './connection.ts';
import { parseQueueUrl, QUEUE_URL_FORMS, readQueueUrl } from './queue-url.ts';

FormatRegistry.Set('queue-url', (text) => readQueueUrl(text) !== null);

/** Settings of every process that uses the queue. */
export const queueSettings = {
  QUEUE_URL: Type.String({ format: 'queue-url', description: `the queue: ${QUEUE_URL_FORMS}` }),
  QUEUE_NAMESPACE: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    default: 'floodgate',
    description: 'separates installations that share a queue server: a–z, 0–9 and _, starting with a letter',
  }),
};

/** Returns the options of a producer or a consumer. */
export const queueOptions = (
  config: { QUEUE_URL: string; QUEUE_NAMESPACE: string },
  log: Pick<Logger, 'debug'>,
): QueueOptions => ({
  target: parseQueueUrl(config.QUEUE_URL),
  namespace: config.QUEUE_NAMESPACE,
  onError: (err) => log.debug({ err }, 'queue connection'),
});
