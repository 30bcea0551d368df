import { Argument, type Command } from '@commander-js/extra-typings';
import { actionCommands } from '@floodgate/audit/commands';
import { ConnectionFailed } from '@floodgate/database/connection/failures';
import { SERVICES, usesQueue } from '@floodgate/database/roles/services';
import type * as Queue from '@floodgate/queue';
import { Failure, reasonOf, sqlStateOf } from '@floodgate/service/failure';
import { retry } from '@floodgate/service/retry';
import {
  onRun,
  loadSettings,
  parseSeconds,
  parseShards,
  Unreachable,
  withDatabase,
  type Cli,
  type CliSettings,
} from '@floodgate/command';

// Commands that prepare the servers for all others.

/** `floodgate migrate` */
export function addMigrateCommand(program: Command, cli: Cli) {
  const command = program
    .command('migrate')
    .description('update the database schema, and the queue if it is in Postgres; safe to repeat')
    .option('--wait <seconds>', 'how long to retry until Postgres is reachable', parseSeconds, 0)
    .option('--shards <count>', 'number of shards for a new Citus cluster; 32 by default', parseShards);
  onRun(command, cli, async ({ wait, shards }) => {
    const settings = await loadSettings(cli.env);
    return waitForServers(wait * 1_000, () => migrateAll(settings, shards));
  });
}

async function migrateAll({ databaseUrl, queue }: CliSettings, shards?: number) {
  const database = await import('@floodgate/database');
  const { applied, isDistributed, roles } = await withDatabase(databaseUrl, null, async (db) => {
    if (shards !== undefined) await database.assertShards(db, shards);
    return {
      applied: await database.migrate(db),
      isDistributed: await database.distribute(db, shards),
      roles: await database.listServiceRoles(db),
    };
  });
  if (queue)
    await onQueue(async ({ migrateQueue, grantQueue }) => {
      await migrateQueue(queue.target, queue.namespace);
      for (const { role, service } of roles)
        await grantQueue(queue.target, role, queue.namespace, usesQueue(service));
    });
  const queueSchema = queue?.target.kind === 'postgres' ? 'up to date' : null;
  const lines = [applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'nothing to do'];
  if (isDistributed) lines.push('the tables are distributed over the servers of the Citus cluster');
  if (queueSchema) lines.push("the queue's schema is up to date");
  return { document: { applied, queueSchema }, text: lines.join('\n') };
}

const MAY_STILL_CREATE =
  'granted, but everybody may still create things in this database, and the user in DATABASE_URL cannot revoke that: ' +
  'only its owner, or the role that granted it, can';

/** `floodgate grant` */
export function addGrantCommand(program: Command, cli: Cli) {
  const actionCommand = actionCommands(program, cli, () => import('./grant-action.ts'));
  actionCommand(
    'grant',
    (actions) => actions.grantAction,
    async ({ outcome, service, role }) => {
      // The grant itself succeeded and remains.
      if (outcome === 'may-still-create') throw new Failure(MAY_STILL_CREATE);
      const { queue } = await loadSettings(cli.env);
      const isUser = usesQueue(service);
      if (queue) await onQueue(({ grantQueue }) => grantQueue(queue.target, role, queue.namespace, isUser));
      const isGranted = isUser && queue?.target.kind === 'postgres';
      const document = { service, role, queue: isGranted ? 'granted' : null };
      return { document, text: `${role} has the privileges that the ${service} needs, and no others` };
    },
  )
    .description(
      'grant an existing login role the privileges that a service needs in the database, and in the queue if it ' +
        'is in Postgres; safe to repeat',
    )
    .addArgument(new Argument('<service>', 'the service of the role').choices(SERVICES))
    .argument('<role>', 'the user in the DATABASE_URL of that service');
}

/** Runs `work` on the queue. Throws Unreachable if its server cannot be reached. */
async function onQueue(work: (queue: typeof Queue) => Promise<void>) {
  await work(await import('@floodgate/queue')).catch((error: unknown) => {
    // A statement that Postgres refuses keeps its error.
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
