import { connect, migrate } from '@floodgate/database';
import { migrateQueue } from '@floodgate/queue';
import { sql } from 'kysely';
import type { TestProject } from 'vitest/node';
import { TEMPLATE_DATABASE, TEMPLATE_NAMESPACE, withDatabase } from '../harness/database-url.ts';
import { createServiceRoles, grantQueueToServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { embeddedPostgres, postgresContainer } from './postgres.ts';
import { localRedis, redisContainer } from './redis.ts';
import { firstOf, given } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** Null where no Redis is to be had; then `redisReason` says why. */
    redisUrl: string | null;
    redisReason: string;
  }
}

/** Starts what the tests need, once, and prepares the database that every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([
    firstOf({
      given: given('TEST_DATABASE_URL'),
      containers: postgresContainer,
      embedded: embeddedPostgres,
    }),
    firstOf({ given: given('TEST_REDIS_URL'), containers: redisContainer, local: localRedis }),
  ]);
  if (!postgres.service) throw new Error(`no Postgres for the tests: ${postgres.reason}`);
  if (!redis.service && process.env['CI']) throw new Error(`no Redis for the tests: ${redis.reason}`);
  const redisOrigin = redis.service?.origin ?? `none, its tests are skipped (${redis.reason})`;
  process.stdout.write(`Postgres: ${postgres.service.origin}. Redis: ${redisOrigin}.\n\n`);

  await prepareTemplate(postgres.service.url);
  project.provide('postgresUrl', postgres.service.url);
  project.provide('redisUrl', redis.service?.url ?? null);
  project.provide('redisReason', redis.reason);
  return async () => {
    await Promise.all([postgres.service?.stop(), redis.service?.stop()]);
  };
}

async function prepareTemplate(serverUrl: string): Promise<void> {
  const server = connect({ connectionString: serverUrl, applicationName: 'tests', maxConnections: 1 });
  await retryWhileStarting(() => sql`select 1`.execute(server));
  await sql`drop database if exists ${sql.id(TEMPLATE_DATABASE)} with (force)`.execute(server);
  await sql`create database ${sql.id(TEMPLATE_DATABASE)} encoding 'UTF8' template template0`.execute(server);
  await createServiceRoles(server, serverUrl);
  await server.destroy();

  const connectionString = withDatabase(serverUrl, TEMPLATE_DATABASE);
  const template = connect({ connectionString, applicationName: 'tests', maxConnections: 1 });
  await migrate(template);
  await grantServiceRoles(template);
  await template.destroy();
  await migrateQueue({ kind: 'postgres', connectionString }, TEMPLATE_NAMESPACE);
  await grantQueueToServiceRoles(connectionString, TEMPLATE_NAMESPACE);
}

/** A container's port may be open a moment before its Postgres is. */
async function retryWhileStarting(ask: () => Promise<unknown>): Promise<void> {
  await waitUntil('Postgres answers', async () =>
    ask().then(
      () => true,
      () => false,
    ),
  );
}
