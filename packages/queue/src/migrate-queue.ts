import { runMigrations } from 'bullmq';
import { Client } from 'pg';
import { postgresSchema } from './postgres-schema.ts';
import type { QueueTarget } from './queue-url.ts';

/** Prepares the place where the queue lives. Redis needs nothing; Postgres gets BullMQ's schema. Safe to repeat. */
export async function migrateQueue(target: QueueTarget, namespace: string): Promise<void> {
  if (target.kind !== 'postgres') return;
  const client = new Client({ connectionString: target.connectionString });
  await client.connect();
  try {
    await runMigrations(client, postgresSchema(namespace));
  } finally {
    await client.end();
  }
}
