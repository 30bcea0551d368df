import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import { Client, escapeIdentifier, Pool, type ClientConfig } from 'pg';
import { reasonOf } from '@floodgate/service/failure';
import { CONNECT_TIMEOUT_MS, SILENCE_MS, type BackendOptions, type QueueBackend } from './backend.ts';
import type { QueueTarget } from './queue-url.ts';

type PostgresTarget = Extract<QueueTarget, { kind: 'postgres' }>;

/** A queue in Postgres. */
export function postgresBackend(target: PostgresTarget, options: BackendOptions): QueueBackend {
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
    partitions: 1,
    // BullMQ types a queue by its backend; what is used here is common to both.
    queue: ({ queue }) => new Queue(queue, { connection }, createPostgresBackend) as unknown as Queue,
    worker: ({ queue }, processor, settings) =>
      new Worker(queue, processor, { ...settings, connection }, createPostgresBackend) as unknown as Worker,
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
function postgresSchema(namespace: string): string {
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

/** Prepares the place where the queue lives. Redis needs nothing; Postgres gets BullMQ's schema. Safe to repeat. */
export async function migrateQueue(target: QueueTarget, namespace: string): Promise<void> {
  await onPostgres(target, async (client) => {
    const schema = postgresSchema(namespace);
    await runMigrations(client, schema);
    await revokeFromPublic(client, schema);
  });
}

/** Postgres lets everybody execute a new function. Those who use the schema keep what they call until the next grant. */
async function revokeFromPublic(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ role: string }>(
    `select rolname as role from pg_namespace cross join aclexplode(nspacl) join pg_roles on pg_roles.oid = grantee
     where nspname = $1 and privilege_type = 'USAGE'`,
    [schema],
  );
  const functions = `execute on all functions in schema ${escapeIdentifier(schema)}`;
  const grants = rows.map(({ role }) => `grant ${functions} to ${escapeIdentifier(role)}`);
  await client.query([...grants, `revoke ${functions} from public`].join('; '));
}

/**
 * Gives an existing role what producers and consumers need of a queue in Postgres, or nothing where it `isUser` of none, and
 * takes away whatever else it had there. Which tables BullMQ writes to is its own matter: all but the list of its migrations. Safe to repeat; on Redis
 * there is nothing to do.
 */
export async function grantQueue(
  target: QueueTarget,
  role: string,
  namespace: string,
  isUser = true,
): Promise<void> {
  const [schema, to] = [escapeIdentifier(postgresSchema(namespace)), escapeIdentifier(role)];
  // Several statements in one text are one transaction.
  const revoke = `
    revoke all on schema ${schema} from ${to};
    revoke all on all tables in schema ${schema} from ${to};
    revoke all on all sequences in schema ${schema} from ${to};
    revoke all on all functions in schema ${schema} from ${to};`;
  const grant = `
    grant usage on schema ${schema} to ${to};
    grant select, insert, update, delete on all tables in schema ${schema} to ${to};
    grant usage on all sequences in schema ${schema} to ${to};
    grant execute on all functions in schema ${schema} to ${to};
    revoke insert, update, delete on ${schema}.migration from ${to}`;
  await onPostgres(target, (client) => client.query(isUser ? revoke + grant : revoke));
}

async function onPostgres(target: QueueTarget, act: (client: Client) => Promise<unknown>): Promise<void> {
  if (target.kind !== 'postgres') return;
  const client = new Client({ connectionString: target.connectionString });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
