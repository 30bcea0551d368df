import type { ConnectOptions, Database } from '@floodgate/database';
import type { grantQueue, migrateQueue, Producer, ProducerOptions } from '@floodgate/queue';

/** What the operator's commands look at and act on of a queue. */
export type QueueView = Pick<Producer, 'verify' | 'counts' | 'removeFailed' | 'close'>;

interface Output {
  write(text: string): unknown;
}

/** Everything that the commands need from the outside. */
export interface Cli {
  env: NodeJS.ProcessEnv;
  stdout: Output;
  stderr: Output;
  connect: (options: ConnectOptions) => Database;
  openQueue: (options: ProducerOptions) => QueueView;
  migrateQueue: typeof migrateQueue;
  grantQueue: typeof grantQueue;
}
