import { whole } from '@floodgate/service/load-config';
import { isPostgresUrl } from '@floodgate/service/postgres-url';
import { FormatRegistry, Type } from '@sinclair/typebox';
import { parseQueueUrl, QUEUE_URL_FORMS } from './queue-url.ts';

FormatRegistry.Set('queue-url', isQueueUrl);

/** What every process that uses the queue reads from its environment. */
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

/** Returns whether the text is one of QUEUE_URL_FORMS and its client can read it. */
export function isQueueUrl(text: string): boolean {
  try {
    const target = parseQueueUrl(text);
    if (target.kind === 'postgres') return isPostgresUrl(target.connectionString);
    if (target.kind === 'redis') assertReadable(new URL(target.url));
    return true;
  } catch {
    return false;
  }
}

// As ioredis does, which keeps its parser to itself.
function assertReadable({ username, password }: URL): void {
  decodeURIComponent(username);
  decodeURIComponent(password);
}
