import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { startPostgres } from '@floodgate/embedded-postgres';
import type { RunningService, Source } from './server.ts';

const SETTINGS = {
  max_connections: '300',
  // Tests kill Postgres, not the machine. Waiting for the disk at each commit would take half of their time.
  fsync: 'off',
  full_page_writes: 'off',
};

/** The official image, if Docker is available. */
export const postgresContainer: Source = async () => {
  await getContainerRuntimeClient();
  // A unique password, so that tests can search logs for it.
  const password = randomBytes(24).toString('hex');
  const container = await new GenericContainer('postgres:18')
    .withEnvironment({ POSTGRES_USER: 'floodgate', POSTGRES_PASSWORD: password, POSTGRES_DB: 'floodgate' })
    .withCommand([
      'postgres',
      ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ])
    .withExposedPorts(5432)
    // Some images report readiness twice: from the server that initializes and from the one that stays.
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(5432)}`;
  return {
    url: `postgres://floodgate:${password}@${address}/floodgate`,
    origin: 'container postgres:18',
    stop: async () => void (await container.stop()),
  };
};

/** The PostgreSQL of npm start. */
export const embeddedPostgres: Source = async (): Promise<RunningService> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-test-'));
  const server = await startPostgres({
    dataDir: path.join(directory, 'postgres'),
    logFile: path.join(directory, 'postgres.log'),
    settings: SETTINGS,
  });
  return {
    url: server.url(),
    origin: 'embedded Postgres',
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
