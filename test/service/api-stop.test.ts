import { describe, expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { QUEUE_BACKENDS, titleOf, useQueue } from '../harness/queue-backends.ts';
import type { TestQueue } from '../harness/test-queue.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

// What a stop owes to those who were answered already.

for (const backend of QUEUE_BACKENDS) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    let queue: TestQueue;
    useQueue(backend, (input) => ({ queue } = input));

    test('an API that stops tells the queue of what it has held back', async () => {
      const fixture = await createFixture(given.database.db);
      const ticketId = await fixture.addTicket();
      const api = await startInProcessApi({
        DATABASE_URL: given.database.url,
        QUEUE_URL: queue.url,
        QUEUE_NAMESPACE: queue.namespace,
      });
      const client = new PartnerClient(api.baseUrl, fixture);
      for (const _ of [1, 2, 3])
        expect((await client.register(attendee(ticketId))).body.responseCode).toBe('00');
      await api.close();
      const jobs = await (await queue.raw()).getJobs(['waiting']);
      expect(jobs.flatMap(({ data }) => (data as { batchIds: string[] }).batchIds)).toHaveLength(3);
    });
  });
}
