import { Argument, type Command } from '@commander-js/extra-typings';
import { performing } from '@floodgate/audit/performing';
import { ConnectionFailed } from '@floodgate/database/connection/failures';
import { SERVICES, usesQueue } from '@floodgate/database/roles/services';
import type * as Queue from '@floodgate/queue';
import { Failure, reasonOf, sqlStateOf } from '@floodgate/service/failure';
import { retry } from '@floodgate/service/retry';
import { answering, type Answer, type Cli } from '@floodgate/command';
import { loadSettings, withDatabase, type CliSettings } from '@floodgate/command/actions';
import { parseSeconds, parseShards } from '@floodgate/command/arguments';
import { Unreachable } from '@floodgate/command/failures';

// The commands that prepare the servers for the others.

/** `floodgate migrate` */
export function addMigrateCommand(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .description(
      'bring the database schema, and the queue where it is in Postgres, up to date; safe to repeat',
    )
    .option('--wait <seconds>', 'how long to go on trying while Postgres is not there yet', parseSeconds, 0)
    .option(
      '--shards <count>',
      'how many, on a Citus cluster that has none yet; 32 if not given',
      parseShards,
    );
  answering(command, cli, async ({ wait, shards }) => {
    const settings = await loadSettings(cli.env);
    return waitForServers(wait * 1_000, () => migrateAll(settings, shards));
  });
}

async function migrateAll({ databaseUrl, queue }: CliSettings, shards?: number): Promise<Answer> {
  const { assertShards, distribute, listServiceRoles, migrate } = await import('@floodgate/database');
  const { applied, isDistributed, roles } = await withDatabase(databaseUrl, null, async (db) => {
    if (shards !== undefined) await assertShards(db, shards);
    return {
      applied: await migrate(db),
      isDistributed: await distribute(db, shards),
      roles: await listServiceRoles(db),
    };
  });
  if (queue)
    await onQueue(async ({ migrateQueue, grantQueue }) => {
      await migrateQueue(queue.target, queue.namespace);
      for (const { role, service } of roles)
        await grantQueue(queue.target, role, queue.namespace, usesQueue(service));
    });
  const hasQueueSchema = queue?.target.kind === 'postgres';
  const lines = [applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'nothing to do'];
  if (isDistributed) lines.push('the tables are distributed over the servers of the Citus cluster');
  if (hasQueueSchema) lines.push("the queue's schema is up to date");
  return { document: { applied, queueSchema: hasQueueSchema ? 'up to date' : null }, text: lines.join('\n') };
}

const MAY_STILL_CREATE =
  'granted, but everybody may still create things in this database, and the user in DATABASE_URL cannot revoke that: ' +
  'only its owner, or the role that granted it, can';

/** `floodgate grant` */
export function addGrantCommand(program: Command, cli: Cli): void {
  const performs = performing(program, cli, () => import('./grant-action.ts'));
  performs('grant', 'grantAction', async ({ outcome, service, role }) => {
    // The role was granted what it needs, and this stays.
    if (outcome === 'may-still-create') throw new Failure(MAY_STILL_CREATE);
    const { queue } = await loadSettings(cli.env);
    const isUser = usesQueue(service);
    if (queue) await onQueue(({ grantQueue }) => grantQueue(queue.target, role, queue.namespace, isUser));
    const isGranted = isUser && queue?.target.kind === 'postgres';
    const document = { service, role, queue: isGranted ? 'granted' : null };
    return { document, text: `${role} may do what the ${service} needs, and nothing else` };
  })
    .description(
      'give an existing login role what a service needs of the database, and the queue where it is in Postgres, ' +
        'and nothing else; safe to repeat',
    )
    .addArgument(new Argument('<service>', 'whose role it is').choices(SERVICES))
    .argument('<role>', 'the user in the DATABASE_URL of that service');
}

/** Does `work` on the queue. Throws Unreachable where its server is away. */
async function onQueue(work: (queue: typeof Queue) => Promise<void>): Promise<void> {
  await work(await import('@floodgate/queue')).catch((error: unknown) => {
    // A statement that Postgres refused is another matter, and told as such.
    const sqlState = sqlStateOf(error);
    if (sqlState && !/^(08|28|3D|53|57)/.test(sqlState)) throw error;
    throw new Unreachable(`cannot connect to the queue (QUEUE_URL): ${reasonOf(error)}`, { cause: error });
  });
}

const RETRY_DELAY_MS = 500;

/** Repeats `work` while a server cannot be reached. */
export const waitForServers = <Result>(withinMs: number, work: () => Promise<Result>) =>
  retry(work, {
    delayMs: RETRY_DELAY_MS,
    withinMs,
    shouldRetry: (error) => error instanceof ConnectionFailed || error instanceof Unreachable,
  });
