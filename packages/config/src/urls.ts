import { parseQueueUrl } from '@floodgate/queue/queue-url';
import { parse as parsePostgresUrl } from 'pg-connection-string';

// Those who read a URL later on are asked here, so that none of them refuses it then, without naming the variable.

/** Whether Postgres's client can read it. A certificate that it names must be there. */
export const isPostgresUrl = (text: string) => isReadable(() => readPostgresUrl(text));

/** Whether it is one of QUEUE_URL_FORMS and its client can read it. */
export const isQueueUrl = (text: string) => isReadable(() => readQueueUrl(text));

function readQueueUrl(text: string): void {
  const target = parseQueueUrl(text);
  if (target.kind === 'postgres') readPostgresUrl(target.connectionString);
  if (target.kind === 'redis') readRedisUrl(target.url);
}

function readPostgresUrl(text: string): void {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) throw new Error('not a URL of Postgres');
  parsePostgresUrl(text);
}

// As ioredis does, which keeps its parser to itself.
function readRedisUrl(text: string): void {
  const { username, password } = new URL(text);
  decodeURIComponent(username);
  decodeURIComponent(password);
}

function isReadable(read: () => void): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
