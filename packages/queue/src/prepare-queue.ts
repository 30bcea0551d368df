import { runMigrations } from 'bullmq';
import { Client, escapeIdentifier } from 'pg';
import { postgresSchema } from './postgres-backend.ts';
import type { QueueTarget } from './queue-url.ts';

/** Prepares the place where the queue lives. Redis needs nothing; Postgres gets BullMQ's schema. Safe to repeat. */
export async function migrateQueue(target: QueueTarget, namespace: string): Promise<void> {
  await onPostgres(target, (client) => runMigrations(client, postgresSchema(namespace)));
}

/**
 * Gives an existing role what producers and consumers need of a queue in Postgres, and takes away whatever else it had
 * there. Which tables BullMQ writes to is its own matter: all but the list of its migrations. Safe to repeat; on Redis
 * there is nothing to do.
 */
export async function grantQueue(target: QueueTarget, role: string, namespace: string): Promise<void> {
  const [schema, to] = [escapeIdentifier(postgresSchema(namespace)), escapeIdentifier(role)];
  // Several statements in one text are one transaction.
  const statements = `
    revoke all on schema ${schema} from ${to};
    revoke all on all tables in schema ${schema} from ${to};
    revoke all on all sequences in schema ${schema} from ${to};
    grant usage on schema ${schema} to ${to};
    grant select, insert, update, delete on all tables in schema ${schema} to ${to};
    grant usage on all sequences in schema ${schema} to ${to};
    revoke insert, update, delete on ${schema}.migration from ${to}`;
  await onPostgres(target, (client) => client.query(statements));
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
