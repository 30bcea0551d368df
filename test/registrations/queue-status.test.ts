import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import { QUEUE_BACKENDS, titleOf, useQueue } from '../harness/queue-backends.ts';
import { runCli, startWorkerProcess, type Environment } from '../harness/service-process.ts';
import type { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addWebhook } from '../harness/webhooks.ts';
import { finalizePending } from '../harness/journal.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'starts processes that work on everything in the database',
});

let env: Environment;
let queue: TestQueue;

/** The command also misses services of which no process reports. Here, the test reports them. */
const reportServices = () =>
  sql`
    insert into processes (id, service, version, host, seen_at, facts)
    select gen_random_uuid(), service, '1', 'here', now() + interval '1 hour', '{}'
    from unnest(array['api', 'worker', 'delivery']) as service`.execute(given.database.db);

const useBackend = (backend: (typeof QUEUE_BACKENDS)[number]) => {
  useQueue(backend, (input) => ({ queue } = input));
  beforeEach(async () => {
    await sql`truncate batches, registrations`.execute(given.database.db);
    await sql`delete from processes`.execute(given.database.db);
    await reportServices();
    env = { DATABASE_URL: given.database.url, QUEUE_URL: queue.url, QUEUE_NAMESPACE: queue.namespace };
  });
};

const status = (...options: string[]) => runCli(env, 'queue', 'status', ...options);
const NO_WORKER = 'no worker is connected to the queue';

for (const backend of QUEUE_BACKENDS) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    useBackend(backend);

    test('a worker that is killed is missed', async () => {
      expect(await status()).toMatchObject({ code: 1, output: expect.stringContaining(NO_WORKER) });
      const worker = await startWorkerProcess(env);
      onTestFinished(async () => void (await worker.end('SIGKILL')));
      // The command fails after 3 s, and a busy machine can need longer.
      await waitUntil('the worker is seen', async () => (await status()).code === 0);
      await worker.end('SIGKILL');
      const { output } = await waitUntil('the worker is missed', async () => {
        const answer = await status('--json');
        return answer.output.includes(NO_WORKER) && answer;
      });
      expect(output).toContain('"workers": 0');
    });
  });
}

const postgres = QUEUE_BACKENDS.find(({ name }) => name === 'Postgres')!;

describe('what waits', () => {
  useBackend(postgres);
  beforeEach(async () => {
    queue.consume();
    await waitUntil('the worker is seen', async () => (await status()).code === 0);
  });

  test('for too long fails the command', async () => {
    const { batchId } = await commitBatch(given.database.db, given.gala, { relayInSeconds: 3_600 });
    expect(await status()).toMatchObject({ code: 0 });
    const { db } = given.database;
    await sql`update batches set pending_since = now() - interval '90 s' where id = ${batchId}`.execute(db);
    const late = await status();
    expect(late).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^floodgate: the oldest pending batch or change is 9\d\.\d s old$/m),
    });
    expect(late.output).not.toContain(NO_WORKER);
    expect(await status('--max-age', '3600')).toMatchObject({ code: 0 });
    expect(await status('--max-age', 'long')).toMatchObject({ code: 2 });
  });

  test('for a delivery for too long fails the command, and what is retried does not', async () => {
    const { endpoint } = await addWebhook(given.database.db, given.gala, {
      url: 'https://hooks.floodgate-tests.org/',
    });
    await commitBatch(given.database.db, given.gala);
    await finalizePending(given.database.db, given.gala.shardId);
    await sql`update journal_segments set at = now() - interval '90 s' where shard_id = ${given.gala.shardId}`.execute(
      given.database.db,
    );
    expect(await runCli(env, 'status', '--check')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /^not ok\nfloodgate: the oldest undelivered entry for webhook is 9\d\.\d s old$/m,
      ),
    });
    await sql`update journal_consumers set failures = 1 where id = ${endpoint.id}`.execute(given.database.db);
    expect(await runCli(env, 'status', '--check')).toEqual({ code: 0, output: 'ok\n' });
  });

  test('for an operator fails the command', async () => {
    const { batchId } = await commitBatch(given.database.db, given.gala);
    await sql`
      update batches set state = 'failed', finished_at = now(), failure = 'P0001'
      where id = ${batchId}`.execute(given.database.db);
    expect(await status()).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^floodgate: 1 failed batches, see floodgate queue failed$/m),
    });
  });
});
