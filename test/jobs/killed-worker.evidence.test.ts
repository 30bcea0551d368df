import { jobOperations } from '@floodgate/jobs/console';
import { findJob } from '@floodgate/jobs';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { callerNamed } from '../harness/callers.ts';
import { isOutboxEmpty } from '../harness/journal.ts';
import { sell } from '../harness/sold.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { workersTest } from '../harness/workers-test.ts';
import { cancellationsOf } from './running.ts';

const { test, given } = workersTest();

test.override('ticket', { capacity: 10_000 });

const KILLS = 5;
const SOLD = 5_000;

test('a worker that is killed five times in the middle does nothing twice, and leaves nothing out', async () => {
  const { db, gala, ticketId } = given;
  const serials = await sell(db, gala, ticketId, SOLD);
  const caller = callerNamed('Ann');
  const job = await jobOperations.jobCancel(db, { eventId: gala.eventId, expect: SOLD }, caller);
  let killedInTheMiddle = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { done: before } = await findJob(db, job.id);
    const worker = await given.startWorker();
    // A killed process keeps the lease for seconds.
    await sql`update jobs set leased_until = now() where id = ${job.id}`.execute(db);
    await waitUntil('the job goes on', async () => (await findJob(db, job.id)).done > before);
    await worker.end('SIGKILL');
    const { state } = await findJob(db, job.id);
    if (state === 'running') killedInTheMiddle += 1;
  }
  expect(killedInTheMiddle).toBe(KILLS);
  await given.startWorker();
  await waitUntil('the job ends', async () => (await findJob(db, job.id)).endedAt !== null);
  expect(await findJob(db, job.id)).toMatchObject({ state: 'done', done: SOLD, failed: 0, total: SOLD });
  await waitUntil('everything is published', () => isOutboxEmpty(db, gala.shardId));
  const cancellations = await cancellationsOf(db, gala);
  expect(serials.filter((serial) => cancellations.get(serial) !== 1)).toEqual([]);
  expect(cancellations.size).toBe(SOLD);
  expect(await reconcile(db)).toEqual([]);
  const { rows } = await sql<{ action: string; count: number }>`
    select action, count(*) from audit_log where subject = ${`job:${job.id}`} group by action order by action`.execute(
    db,
  );
  expect(rows).toEqual([
    { action: 'job.end', count: 1 },
    { action: 'job.start', count: 1 },
  ]);
});
