import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq';
import { Client, escapeIdentifier, Pool, type ClientConfig } from 'pg';
import { reasonOf, sqlStateOf } from '@floodgate/service/failure';
import { SILENCE_MS, UnsafeQueueError, type QueueOptions, type QueueTarget, type Role } from './settings.ts';
import type { QueueBackend } from './backend.ts';

const UNDEFINED_TABLE = '42P01';
const NOT_PREPARED = 'the queue is not prepared; run "npm run floodgate -- migrate"';

/** A queue in Postgres: the default of `npm start`, which needs no Redis. */
export function postgresBackend(connectionString: string, options: QueueOptions, role: Role): QueueBackend {
  const connection = {
    connectionString,
    schema: postgresSchema(options.namespace),
    // As long as for an answer: a busy Postgres may need seconds to open a connection.
    connectionTimeoutMillis: SILENCE_MS[role],
    // The pool closes a connection whose query times out. BullMQ enables keepalive on the connection on which
    // it listens.
    query_timeout: SILENCE_MS[role],
    max: 4,
    Client: ListenedClient,
  };
  const probe = new Pool({ ...connection, max: 1 });
  probe.on('error', options.onError);
  let problem: string | null = null;
  return {
    // BullMQ types a queue by its backend. The methods used here exist in both.
    queue: (name) => new Queue(name, { connection }, createPostgresBackend) as unknown as Queue,
    worker: (name, processor, settings) =>
      new Worker(name, processor, { ...settings, connection }, createPostgresBackend) as unknown as Worker,
    // There is no connection to watch: an add fails by itself.
    isUp: () => true,
    problem: () => problem,
    verify: async () => {
      try {
        await probe.query(`select 1 from "${connection.schema}".migration limit 1`);
        problem = null;
      } catch (error) {
        problem = reasonOf(error);
        if (sqlStateOf(error) !== UNDEFINED_TABLE) throw error;
        throw new UnsafeQueueError(NOT_PREPARED, { cause: error });
      }
    },
    close: () => probe.end(),
  };
}

/** Returns BullMQ's schema for a namespace: the Postgres counterpart of a key prefix. */
const postgresSchema = (namespace: string) => `${namespace}_queue`;

/**
 * BullMQ does not listen to errors of the connections that it takes from the pool, and an error without a
 * listener ends the process. The running statement reports the lost connection anyway.
 */
class ListenedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** Creates BullMQ's schema in Postgres; Redis needs none. Safe to repeat. */
export async function migrateQueue(target: QueueTarget, namespace: string) {
  await onPostgres(target, async (client) => {
    const schema = postgresSchema(namespace);
    await runMigrations(client, schema);
    await client.query(`revoke execute on all functions in schema ${escapeIdentifier(schema)} from public`);
  });
}

/**
 * Grants an existing role the privileges that producers and consumers need on a queue in Postgres if it
 * `isUser`, and revokes all others. BullMQ does not document which tables it writes to, so the role can write
 * to all of them except the list of migrations. Safe to repeat. Redis needs no grant.
 */
export async function grantQueue(target: QueueTarget, role: string, namespace: string, isUser = true) {
  const [schema, to] = [escapeIdentifier(postgresSchema(namespace)), escapeIdentifier(role)];
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
  // Postgres runs several statements in one text as one transaction.
  await onPostgres(target, (client) => client.query(revoke + (isUser ? grant : '')));
}

async function onPostgres(target: QueueTarget, act: (client: Client) => Promise<unknown>) {
  if (target.kind !== 'postgres') return;
  const client = new Client({ connectionString: target.connectionString });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
