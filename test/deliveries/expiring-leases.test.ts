import { queueDeliveries, SendLoop, type DeliveryKind } from '@floodgate/deliveries';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { eventTest } from '../harness/event-test.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'counts, empties or compares whole tables' });

interface Message {
  revision: number;
}

const kind: DeliveryKind<Message, string> = {
  name: 'confirmation',
  consumerKind: null,
  load: (deliveries) =>
    Promise.resolve(new Map(deliveries.map(({ subject }) => [subject, { item: subject }]))),
  render: () => Promise.resolve({ revision: 1 }),
};

const stored = async () => {
  const { rows } = await sql<Record<'state' | 'attempts' | 'twice', unknown>>`
    select state, attempts, possibly_twice as twice from deliveries`.execute(given.db);
  return rows;
};

test('a delivery whose lease is about to end is put back: nothing was sent, and no crash is counted', async () => {
  const clock = new ManualClock();
  const { promise: permitted, resolve: permit } = Promise.withResolvers<void>();
  let sent = 0;
  let pages = 0;
  const errors: Error[] = [];
  // Connections of its own: most of its statements wait.
  const db = connectInTest(given.database.url, 5);
  onTestFinished(() => db.destroy());
  const loop = new SendLoop<Message>({
    db,
    kinds: [kind],
    send: () => {
      sent += 1;
      return Promise.resolve({ kind: 'sent' });
    },
    // The first page waits for permission. A later one gets none.
    rate: { limitPerCall: 10, take: () => ((pages += 1) === 1 ? permitted : new Promise(() => {})) },
    beforeRecord: () => Promise.resolve(),
    onOutcome: () => {},
    onError: (error) => void errors.push(error),
    clock,
  });
  await queueDeliveries(given.db, given.gala, [{ kind: 'confirmation', subject: '1', since: new Date() }]);
  await loop.task.run();
  await waitUntil('it is leased', async () => (await stored())[0]!.state === 'sending');
  // Postgres answers nothing about the row, so the lease is not renewed.
  const silent = await given.db.startTransaction().execute();
  await sql`select from deliveries where shard_id = ${given.gala.shardId} for update`.execute(silent);
  await clock.advance(28_000);
  expect(errors).toEqual([]);
  // It was tried three times.
  await waitForLockWaiters(given.db, 3);
  permit();
  await clock.advance(10);
  await waitForLockWaiters(given.db, 4);
  await silent.rollback().execute();
  // It is leased again at once, so it can be seen as queued only by chance.
  await waitUntil('it is put back and leased again', () => pages === 2);
  expect(await stored()).toEqual([{ state: 'sending', attempts: 0, twice: false }]);
  expect(sent).toBe(0);
  expect(errors).toEqual([]);
});
