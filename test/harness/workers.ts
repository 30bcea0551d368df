import { afterAll, afterEach, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createFixture, type Fixture } from './fixture.ts';
import { startWorkerProcess, type Environment, type ServiceProcess } from './service-process.ts';

/** The workers of a test file; each ends with its test. */
export interface Workers {
  /** Starts one on the file's database. */
  start(env?: Environment): Promise<ServiceProcess>;
  /** Takes care of one that the test has started by itself. */
  adopt(worker: ServiceProcess): void;
}

/** For a test file about workers: hands `setUp` a database and a fixture before the tests. */
export function useWorkers(setUp: (given: { database: TestDatabase; fixture: Fixture }) => void): Workers {
  let database: TestDatabase;
  const workers: ServiceProcess[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    setUp({ database, fixture: await createFixture(database.db) });
  });
  afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.end('SIGKILL'))));
  afterAll(() => database.drop());
  return {
    start: async (env = {}) => {
      const common = { DATABASE_URL: database.url, QUEUE_URL: database.url, RELAY_INTERVAL_MS: '50' };
      const worker = await startWorkerProcess({ ...common, ...env });
      workers.push(worker);
      return worker;
    },
    adopt: (worker) => void workers.push(worker),
  };
}
