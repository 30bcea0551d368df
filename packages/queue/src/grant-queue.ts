import { Client, escapeIdentifier } from 'pg';
import { postgresSchema } from './postgres-schema.ts';
import type { QueueTarget } from './queue-url.ts';

/**
 * Gives an existing role what producers and consumers need of a queue in Postgres, and takes away whatever else it had
 * there. Which tables BullMQ writes to is its own matter: all but the list of its migrations. Safe to repeat; on Redis
 * there is nothing to do.
 */
export async function grantQueue(target: QueueTarget, role: string, namespace: string): Promise<void> {
  if (target.kind !== 'postgres') return;
  const client = new Client({ connectionString: target.connectionString });
  await client.connect();
  const [schema, to] = [escapeIdentifier(postgresSchema(namespace)), escapeIdentifier(role)];
  try {
    // Several statements in one text are one transaction.
    await client.query(`
      revoke all on schema ${schema} from ${to};
      revoke all on all tables in schema ${schema} from ${to};
      revoke all on all sequences in schema ${schema} from ${to};
      grant usage on schema ${schema} to ${to};
      grant select, insert, update, delete on all tables in schema ${schema} to ${to};
      grant usage on all sequences in schema ${schema} to ${to};
      revoke insert, update, delete on ${schema}.migration from ${to}`);
  } finally {
    await client.end();
  }
}
