import { database, sharedTest } from './event-test.ts';
import { startWorkerProcess, type Environment, type ServiceProcess } from './service-process.ts';

export { database, gala } from './event-test.ts';

/** Workers of the running test. They end with the test. */
let workers: ServiceProcess[] = [];

/** A test with workers. It shares its event with the other tests of its file. */
// oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern
export const test = sharedTest.extend('workers', { auto: true }, ({}, { onCleanup }) => {
  workers = [];
  onCleanup(async () => void (await Promise.all(workers.map((worker) => worker.end('SIGKILL')))));
  return workers;
});

/** Ends this worker with the test. */
export const adoptWorker = (worker: ServiceProcess) => void workers.push(worker);

/** Starts a worker on the file's database. */
export async function startWorker(env: Environment = {}): Promise<ServiceProcess> {
  const { url } = database;
  const worker = await startWorkerProcess({
    DATABASE_URL: url,
    QUEUE_URL: url,
    RELAY_INTERVAL_MS: '50',
    ...env,
  });
  adoptWorker(worker);
  return worker;
}
