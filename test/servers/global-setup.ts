import { sql } from 'kysely';
import type { TestProject } from 'vitest/node';
import { connectInTest } from '../harness/connect-in-test.ts';
import type { Engine } from '../harness/database-url.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Tier } from '../tiers.ts';
import { embeddedPostgres, postgresContainer } from './postgres.ts';
import { localRedis, redisContainer } from './redis.ts';
import { firstOf, given, type Source } from './server.ts';
import { prepareTemplate, readCitusServers } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    engine: Engine;
    /** Long suites do more in the evidence tier. */
    tier: Tier;
    /** Owner's URLs of the tests' servers: one Postgres, or the coordinator and the workers of a Citus cluster. */
    serverUrls: string[];
    /** The first of serverUrls, which tests connect to. */
    postgresUrl: string;
    /** Null if there is no Redis. Then `redisReason` has the reason. */
    redisUrl: string | null;
    redisReason: string;
  }
}

const DATABASES: Record<Engine, Record<string, Source>> = {
  postgres: {
    given: given('TEST_DATABASE_URL'),
    containers: postgresContainer,
    embedded: embeddedPostgres,
  },
  citus: { given: given('TEST_CITUS_URL') },
};

/** Starts the servers for the tests of a project, and prepares the database that every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = project.name as Engine;
  const [postgres, redis] = await Promise.all([
    firstOf(DATABASES[engine]),
    firstOf({ given: given('TEST_REDIS_URL'), containers: redisContainer, local: localRedis }),
  ]);
  if (!postgres.service) throw new Error(`no Postgres for the tests: ${postgres.reason}`);
  if (!redis.service && process.env['CI']) throw new Error(`no Redis for the tests: ${redis.reason}`);
  const redisOrigin = redis.service?.origin ?? `none, its tests are skipped (${redis.reason})`;
  process.stdout.write(`${engine}: ${postgres.service.origin}. Redis: ${redisOrigin}.\n`);
  if (!process.env['TEST_CITUS_URL'])
    process.stdout.write('citus: none, its tests are skipped (no TEST_CITUS_URL)\n');

  const { url } = postgres.service;
  await waitUntilItAnswers(url);
  const serverUrls = engine === 'citus' ? await readCitusServers(url) : [url];
  await prepareTemplate(engine, serverUrls);
  project.provide('engine', engine);
  project.provide('serverUrls', serverUrls);
  project.provide('postgresUrl', url);
  project.provide('redisUrl', redis.service?.url ?? null);
  project.provide('redisReason', redis.reason);
  return async () => {
    await Promise.all([postgres.service?.stop(), redis.service?.stop()]);
  };
}

/** A container may open its port before its Postgres is ready. */
async function waitUntilItAnswers(connectionString: string): Promise<void> {
  const server = connectInTest(connectionString);
  await waitUntil('Postgres answers', async () =>
    sql`select 1`.execute(server).then(
      () => true,
      () => false,
    ),
  );
  await server.destroy();
}
