import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject } from 'vitest';
import { finalizeBatchesJob } from '@floodgate/registrations';
import { commitBatch, holdBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import {
  runCli,
  startWorkerProcess,
  type Environment,
  type ServiceProcess,
} from '../harness/service-process.ts';
import { refuseToConfirm } from '../harness/poison.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

const QUEUES = [
  {
    name: 'Postgres',
    missing: inject('engine') === 'citus' ? ' (queue/conformance tests it on Citus)' : '',
    url: () => given.database.url,
  },
  {
    name: 'Redis',
    missing: inject('redisUrl') ? '' : ` (${inject('redisReason')})`,
    url: () => inject('redisUrl')!,
  },
];

for (const { name, missing, url } of QUEUES) {
  describe.skipIf(missing)(`a worker with its queue in ${name}${missing}`, () => {
    let queue: TestQueue;
    let env: Environment;
    const workers: ServiceProcess[] = [];

    beforeEach(async () => {
      await sql`truncate batches, registrations`.execute(given.database.db);
      queue = await TestQueue.open(url());
      env = {
        DATABASE_URL: given.database.url,
        QUEUE_URL: queue.url,
        QUEUE_NAMESPACE: queue.namespace,
        FINALIZE_ATTEMPTS: '2',
        FINALIZE_BACKOFF_MS: '1',
        RELAY_INTERVAL_MS: '50',
      };
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.end('SIGKILL')));
      await sql`drop trigger if exists refuse on batches`.execute(given.database.db);
      await queue.close();
    });

    async function startWorker(differing: Environment = {}): Promise<ServiceProcess> {
      const worker = await startWorkerProcess({ ...env, ...differing });
      workers.push(worker);
      return worker;
    }

    test('confirms batches that committed but were never enqueued', async () => {
      const batches = await Promise.all([1, 2, 3].map(() => commitBatch(given.database.db, given.gala)));
      expect(await batches[0]!.state()).toBe('reserved');
      await startWorker();
      for (const batch of batches) await batch.waitForState('confirmed');
      await waitForCounts(await queue.produce(), {});
    });

    test('confirms a batch whose job rings long before the relay would', async () => {
      await startWorker();
      const batch = await commitBatch(given.database.db, given.gala, { relayInSeconds: 3_600 });
      await (
        await queue.produce()
      ).enqueue(finalizeBatchesJob, { shardId: given.gala.shardId, batchIds: [batch.batchId] });
      await batch.waitForState('confirmed');
    });

    test('gives a batch up that Postgres refuses to confirm, until it is redriven', async () => {
      const batch = await commitBatch(given.database.db, given.gala);
      await refuseToConfirm(given.database.db, batch.batchId);
      const worker = await startWorker();
      const producer = await queue.produce();
      await batch.waitForState('failed');
      await waitForCounts(producer, { failed: 1 });
      const input = await tablesOf(given.database.db)
        .selectFrom('batches')
        .select(['failure', 'finished_at'])
        .where('id', '=', batch.batchId)
        .executeTakeFirstOrThrow();
      expect(input).toEqual({ failure: 'P0001', finished_at: expect.any(Date) as Date });
      await waitUntil('both attempts are in the log', () => {
        return worker.output().match(/"msg":"a job failed"/g)?.length === 2;
      });
      expect(worker.output()).not.toContain('not now');

      const listed = await runCli(env, 'queue', 'failed', '--event', String(given.gala.eventId), '--json');
      expect(JSON.parse(listed.output)).toMatchObject([
        { batchId: batch.batchId, eventIds: [given.gala.eventId], reason: 'P0001' },
      ]);
      const none = await runCli(env, 'queue', 'failed', '--event', String(given.gala.eventId + 1));
      expect(none.output).toBe('no batch has failed\n');

      await sql`drop trigger refuse on batches`.execute(given.database.db);
      const { code, output } = await runCli(env, 'redrive', batch.batchId);
      expect([code, output]).toEqual([
        0,
        expect.stringContaining('redriven: 1 (1 confirmed, 0 failed again, 0 still pending)'),
      ]);
      await batch.waitForState('confirmed');
    });

    test('does not give a batch up because Postgres was away', async () => {
      const proxy = await TcpProxy.start(given.database.url);
      const worker = await startWorker({ DATABASE_URL: proxy.through(given.database.url) });
      const batch = await commitBatch(given.database.db, given.gala, { relayInSeconds: 3_600 });
      proxy.setMode('down');
      const producer = await queue.produce({ attempts: 2, backoffMs: 1 });
      await producer.enqueue(finalizeBatchesJob, { shardId: given.gala.shardId, batchIds: [batch.batchId] });
      await waitForCounts(producer, { failed: 1 });
      expect(await batch.state()).toBe('reserved');

      proxy.setMode('pass');
      await sql`update batches set relay_at = now() where id = ${batch.batchId}`.execute(given.database.db);
      await batch.waitForState('confirmed');
      expect(worker.child.exitCode).toBeNull();
      expect(await worker.end()).toBe(0);
      await proxy.stop();
    });

    test('outlives a connection that is lost under a statement', async () => {
      const proxy = await TcpProxy.start(given.database.url);
      const batch = await commitBatch(given.database.db, given.gala);
      const hold = await holdBatch(given.database.db, batch.batchId);
      const worker = await startWorker({ DATABASE_URL: proxy.through(given.database.url) });
      await (
        await queue.produce({ attempts: 1, backoffMs: 1 })
      ).enqueue(finalizeBatchesJob, { shardId: given.gala.shardId, batchIds: [batch.batchId] });
      await hold.somebodyWaits();
      proxy.setMode('down');
      await waitUntil('the job has failed', () => {
        expect(worker.child.exitCode, worker.output()).toBeNull();
        return worker.output().includes('"msg":"a job failed"');
      });
      await hold.endWaiters();
      await hold.release();
      proxy.setMode('pass');
      await batch.waitForState('confirmed');
      expect(await worker.end(), worker.output()).toBe(0);
      await proxy.stop();
    });

    test('finishes what another worker was killed over', async () => {
      const batch = await commitBatch(given.database.db, given.gala, { relayInSeconds: 5 });
      const hold = await holdBatch(given.database.db, batch.batchId);
      const victim = await startWorker();
      await (
        await queue.produce()
      ).enqueue(finalizeBatchesJob, { shardId: given.gala.shardId, batchIds: [batch.batchId] });
      await hold.somebodyWaits();
      await victim.end('SIGKILL');
      await hold.endWaiters();
      await hold.release();
      expect(await batch.state()).toBe('reserved');
      await startWorker();
      await batch.waitForState('confirmed');
    });

    test('ends with exit code 0 on SIGTERM, after what it has begun', async () => {
      const batch = await commitBatch(given.database.db, given.gala, { relayInSeconds: 3_600 });
      const hold = await holdBatch(given.database.db, batch.batchId);
      const worker = await startWorker();
      const producer = await queue.produce();
      await producer.enqueue(finalizeBatchesJob, { shardId: given.gala.shardId, batchIds: [batch.batchId] });
      await hold.somebodyWaits();
      worker.child.kill('SIGTERM');
      await waitUntil('it is stopping', () => worker.output().includes('"msg":"stopping"'));
      await hold.release();
      expect(await worker.exited, worker.output()).toBe(0);
      expect(await batch.state()).toBe('confirmed');
      await waitForCounts(producer, {});
    });
  });
}
