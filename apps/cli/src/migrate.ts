import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { ConnectionFailed } from '@floodgate/database/connection/failures';
import type * as Queue from '@floodgate/queue';
import { sqlStateOf } from '@floodgate/service/failure';
import {
  answering,
  loadSettings,
  parseSeconds,
  reasonOf,
  Unreachable,
  withDatabase,
  type Answer,
  type Cli,
  type CliSettings,
} from '@floodgate/command';

const RETRY_DELAY_MS = 500;

/** `floodgate migrate` */
export function addMigrateCommand(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .description(
      'bring the database schema, and the queue where it is in Postgres, up to date; safe to repeat',
    )
    .option('--wait <seconds>', 'how long to go on trying while Postgres is not there yet', parseSeconds, 0);
  answering(command, cli, async ({ wait }) => {
    const settings = await loadSettings(cli.env);
    return retryUntil(Date.now() + wait * 1_000, () => migrateAll(settings));
  });
}

async function migrateAll({ databaseUrl, queue }: CliSettings): Promise<Answer> {
  const { migrate } = await import('@floodgate/database/schema/migrate');
  const migrations = await withDatabase(databaseUrl, null, migrate);
  if (queue) await onQueue(({ migrateQueue }) => migrateQueue(queue.target, queue.namespace));
  const hasQueueSchema = queue?.target.kind === 'postgres';
  const text = migrations.length > 0 ? `migrated: ${migrations.join(', ')}` : 'nothing to do';
  return {
    document: { migrations, queueSchema: hasQueueSchema ? 'up to date' : null },
    text: hasQueueSchema ? `${text}\nthe queue's schema is up to date` : text,
  };
}

/** Does `work` on the queue. Throws Unreachable where its server is away. */
export async function onQueue(work: (queue: typeof Queue) => Promise<void>): Promise<void> {
  await work(await import('@floodgate/queue')).catch((error: unknown) => {
    // A statement that Postgres refused is another matter, and told as such.
    const sqlState = sqlStateOf(error);
    if (sqlState && !/^(08|28|3D|53|57)/.test(sqlState)) throw error;
    throw new Unreachable(`cannot connect to the queue (QUEUE_URL): ${reasonOf(error)}`, { cause: error });
  });
}

/** Repeats `work` while a server cannot be reached, until `deadline` (milliseconds since the epoch). */
export async function retryUntil<Result>(deadline: number, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isUnreachable = error instanceof ConnectionFailed || error instanceof Unreachable;
      if (!isUnreachable || Date.now() + RETRY_DELAY_MS > deadline) throw error;
    }
    await sleep(RETRY_DELAY_MS);
  }
}
