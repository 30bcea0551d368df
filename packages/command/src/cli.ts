import type { ConnectOptions, Database } from '@floodgate/database';
import type { grantQueue, migrateQueue, Producer, ProducerOptions } from '@floodgate/queue';

/** What the operator's commands look at and act on of a queue. */
export type QueueView = Pick<Producer, 'verify' | 'counts' | 'removeFailed' | 'close'>;

interface Output {
  write(text: string): unknown;
}

type Later<Value> = Value | Promise<Value>;

/** Everything that the commands need from the outside. What few of them need may be loaded when it is. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdout: Output;
  stderr: Output;
  connect: (options: ConnectOptions) => Later<Database>;
  openQueue: (options: ProducerOptions) => Later<QueueView>;
  migrateQueue: typeof migrateQueue;
  grantQueue: typeof grantQueue;
}
