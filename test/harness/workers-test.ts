import { eventTest, type GivenEvent } from './event-test.ts';
import { startWorkerProcess, type Environment, type ServiceProcess } from './service-process.ts';

export interface GivenWorkers extends GivenEvent {
  /** Starts a worker on the file's database. It ends with the test. */
  startWorker(env?: Environment): Promise<ServiceProcess>;
  /** Ends this worker with the test. */
  adoptWorker(worker: ServiceProcess): void;
}

/** Returns the `test` of a file whose tests start workers. The tests share an event, and no other file uses the database. */
export function workersTest() {
  const options = { own: 'workers finalize everything in the database', sharesEvent: true };
  const { test: withEvent, given: givenEvent } = eventTest(options);
  const given = givenEvent as GivenWorkers;
  let workers: ServiceProcess[] = [];
  given.adoptWorker = (worker) => void workers.push(worker);
  given.startWorker = async (env = {}) => {
    const { url } = given.database;
    const common = { DATABASE_URL: url, QUEUE_URL: url, RELAY_INTERVAL_MS: '50' };
    const worker = await startWorkerProcess({ ...common, ...env });
    given.adoptWorker(worker);
    return worker;
  };
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern
  const test = withEvent.extend('workers', { auto: true }, ({}, { onCleanup }) => {
    workers = [];
    onCleanup(async () => void (await Promise.all(workers.map((worker) => worker.end('SIGKILL')))));
    return workers;
  });
  return { test, given };
}
