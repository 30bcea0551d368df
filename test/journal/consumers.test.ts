import {
  CONSUMER_LEASE_SECONDS,
  addConsumer,
  advance,
  disable,
  journalHead,
  lagOf,
  leaseConsumers,
  retryLater,
  readJournal,
  readLags,
  release,
  runConsumers,
  throttle,
  type Consumer,
} from '@floodgate/journal';
import { connect } from '@floodgate/database';
import { perform } from '@floodgate/audit';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { beforeEach, describe, expect, onTestFinished } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { passTime } from '../harness/pass-time.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { confirmSome } from '../harness/webhooks.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// Who reads the journal, each from a place of its own.

test.override('ticket', { capacity: 100_000 });

beforeEach(async () => {
  // Others' consumers would be leased as well.
  await emptyTables(given.database.db, 'journal_consumers', 'journal_segments');
});

/** Registers and confirms so many, of one partner. */
const confirm = (count = 1, { partnerId }: Pick<Fixture, 'partnerId'> = given.gala) =>
  confirmSome(given.database.db, { ...given.gala, partnerId }, given.ticketId, count);

const add = async (partnerId = given.gala.partnerId, kind: 'webhook' | 'mail' = 'webhook') => {
  const { shardId, eventId } = given.gala;
  const { id } = await addConsumer(given.database.db, { shardId, kind, eventId, partnerId });
  // Nobody has looked yet, so it would be leased once although there is nothing to read.
  if ((await lagOf(given.database.db, { shardId, eventId, partnerId, cursor: 0 })) === null)
    await sql`update journal_consumers set news_offset = 0 where shard_id = ${shardId} and id = ${id}`.execute(
      given.database.db,
    );
  return id;
};

const lease = (most = 10, kind: 'webhook' | 'mail' = 'webhook') =>
  leaseConsumers(given.database.db, given.gala.shardId, kind, most);

const idsOf = (consumers: readonly Consumer[]) => consumers.map(({ id }) => id);

async function leaseOne(): Promise<Consumer> {
  const [consumer] = await lease(1);
  expect(consumer).toBeDefined();
  return consumer!;
}

const pass = (seconds: number) => passTime(given.database.db, given.gala.shardId, seconds);

describe('a lease', () => {
  test('is given only where there is something to read, and to one reader', async () => {
    const id = await add();
    expect(await lease()).toEqual([]);
    await confirm(3);
    const consumer = await leaseOne();
    expect(consumer).toMatchObject({ id, cursor: 0, inFlightUntil: null, failures: 0, failingSince: null });
    expect(await lease()).toEqual([]);
  });

  test('is given for what is of the same kind, event and partner, or of all partners, or of its tickets', async () => {
    const [other, stranger] = [
      await createFixture(given.database.db),
      await createFixture(given.database.db),
    ];
    const [own, others, all] = [await add(), await add(other.partnerId), await add(0)];
    await add(stranger.partnerId);
    const mail = await add(0, 'mail');
    await confirm(1);
    expect(idsOf(await lease()).sort()).toEqual([own, all].sort());
    expect(idsOf(await lease(10, 'mail'))).toEqual([mail]);
    await confirm(1, other);
    expect(idsOf(await lease())).toEqual([others]);
    const soldOut = { ticketId: given.ticketId, capacity: 2 };
    await perform(given.database.db, updateTicketAction, soldOut, 'test');
    await finalizePending(given.database.db, given.gala.shardId);
    expect(await lease()).toHaveLength(1);
  });

  test('ends by itself, when its process has gone', async () => {
    const id = await add();
    await confirm();
    const first = await leaseOne();
    await pass(24);
    expect(await lease()).toEqual([]);
    await pass(1);
    const second = await leaseOne();
    expect(second.id).toBe(id);
    // Whoever comes back late changes nothing any more.
    for (const late of [
      advance(given.database.db, first, 1),
      release(given.database.db, first),
      retryLater(given.database.db, first, 0),
      throttle(given.database.db, first, 0),
      disable(given.database.db, first),
    ])
      expect(await late).toBe(false);
    expect(await advance(given.database.db, second, 1)).toBe(true);
  });

  test('goes to those who have waited longest', async () => {
    await confirm();
    const ids = [await add(), await add(), await add()];
    expect(idsOf(await lease(2))).toEqual(ids.slice(0, 2));
    expect(idsOf(await lease(2))).toEqual(ids.slice(2));
  });
});

describe('a reader', () => {
  test('goes on from where it was, and is not leased again when it is at the end', async () => {
    await add();
    await confirm(5);
    const { shardId, eventId, partnerId } = given.gala;
    const consumer = await leaseOne();
    const page = await readJournal(
      given.database.db,
      { shardId, eventId, partnerId, withTickets: true },
      0,
      3,
    );
    if (typeof page === 'string') throw new Error(page);
    expect(page.entries).toHaveLength(3);
    expect(await advance(given.database.db, consumer, page.cursor, page.cursor + 2)).toBe(true);
    await release(given.database.db, consumer);
    const again = await leaseOne();
    expect(again).toMatchObject({ cursor: page.cursor, inFlightUntil: page.cursor + 2 });
    await advance(given.database.db, again, again.inFlightUntil!);
    await release(given.database.db, again);
    expect(await lease()).toEqual([]);
  });

  test('that failed comes again later, and its failures are counted until one succeeds', async () => {
    await add();
    await confirm();
    const first = await leaseOne();
    await retryLater(given.database.db, first, 60_000);
    expect(await lease()).toEqual([]);
    await pass(60);
    const second = await leaseOne();
    expect(second.failures).toBe(1);
    const failingForMs = Date.now() - second.failingSince!.getTime();
    expect(failingForMs).toBeGreaterThan(59_000);
    await retryLater(given.database.db, second, 0);
    const third = await leaseOne();
    expect(third).toMatchObject({ failures: 2, failingSince: second.failingSince });
    await advance(given.database.db, third, 0);
    await release(given.database.db, third);
    expect(await leaseOne()).toMatchObject({ failures: 0, failingSince: null });
  });

  test('whose receiver asked to wait comes again later, and since when nothing was delivered is known', async () => {
    await add();
    await confirm();
    await throttle(given.database.db, await leaseOne(), 60_000);
    expect(await lease()).toEqual([]);
    await pass(60);
    const second = await leaseOne();
    expect(second.failures).toBe(0);
    expect(second.failingSince).not.toBeNull();
    await throttle(given.database.db, second, 0);
    const third = await leaseOne();
    expect(third).toMatchObject({ failures: 0, failingSince: second.failingSince });
    await advance(given.database.db, third, 0);
    await release(given.database.db, third);
    expect((await leaseOne()).failingSince).toBeNull();
  });

  test('that was given up is not leased, and its lag counts among the disabled', async () => {
    await add();
    await confirm();
    await disable(given.database.db, await leaseOne());
    expect(await lease()).toEqual([]);
    expect((await readLags(given.database.db)).webhook).toEqual({
      consumers: 1,
      behind: 0,
      failing: 0,
      disabled: 1,
      oldestMs: null,
      oldestRetryMs: null,
    });
  });

  test('of a ticket reads of it in the same order', async () => {
    await confirm(2);
    for (const capacity of [2, 4]) {
      await perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity }, 'test');
      await finalizePending(given.database.db, given.gala.shardId);
    }
    await confirm(1);
    const { shardId, eventId, partnerId } = given.gala;
    const page = await readJournal(
      given.database.db,
      { shardId, eventId, partnerId, withTickets: true },
      0,
      10,
    );
    if (typeof page === 'string') throw new Error(page);
    expect(page.entries.map(({ kind }) => kind)).toEqual([
      'confirmed',
      'confirmed',
      'sold_out',
      'reopened',
      'confirmed',
    ]);
    expect(page.entries.map(({ offset }) => offset)).toEqual(
      page.entries.map(({ offset }) => offset).sort((a, b) => a - b),
    );
  });
});

test('the lag has two ages: of the oldest that was not tried, and of the oldest that is retried', async () => {
  expect(await readLags(given.database.db)).toEqual({});
  await add();
  const later = await add();
  expect((await readLags(given.database.db)).webhook).toMatchObject({ behind: 0, oldestMs: null });
  await confirm();
  await tablesOf(given.database.db)
    .updateTable('journal_segments')
    .set({ at: new Date(Date.now() - 3_600_000) } as never)
    .where('shard_id', '=', given.gala.shardId)
    .execute();
  const old = await journalHead(given.database.db, given.gala.shardId);
  await confirm();
  for (const consumer of await lease())
    await (consumer.id === later
      ? advance(given.database.db, consumer, old)
      : retryLater(given.database.db, consumer, 3_600_000));
  const { webhook } = await readLags(given.database.db);
  expect(webhook).toMatchObject({ consumers: 2, behind: 2, failing: 1, disabled: 0 });
  // The failure is new, although its entry is old.
  expect(webhook!.oldestRetryMs).not.toBeNull();
  expect(webhook!.oldestRetryMs).toBeLessThan(3_600_000);
  const twoHoursAgo = new Date(Date.now() - 7_200_000);
  await sql`update journal_consumers set failing_since = ${twoHoursAgo} where failing_since is not null`.execute(
    given.db,
  );
  const { oldestRetryMs } = (await readLags(given.database.db)).webhook!;
  expect(oldestRetryMs).toBeGreaterThanOrEqual(7_200_000);
  expect(oldestRetryMs).toBeLessThan(10_800_000);
  expect(webhook!.oldestMs).toBeLessThan(3_600_000);
  // The person who pauses a webhook knows that it falls behind.
  await sql`update journal_consumers set state = 'paused'`.execute(given.database.db);
  expect((await readLags(given.database.db)).webhook).toMatchObject({ oldestMs: null, oldestRetryMs: null });
});

test('advance extends a lease by the time for which it was leased', async () => {
  await add();
  await confirm();
  const { shardId } = given.gala;
  const leasedFor = (seconds?: number) =>
    given.db.transaction().execute(async (transaction) => {
      const [consumer] = await leaseConsumers(transaction, shardId, 'webhook', 1, seconds);
      await sql`update journal_consumers set leased_until = null`.execute(transaction);
      await advance(transaction, consumer!, consumer!.cursor);
      const { rows } = await sql<{ seconds: number }>`
        select extract(epoch from leased_until - now())::float8 as seconds from journal_consumers
        where id = ${consumer!.id}`.execute(transaction);
      await sql`update journal_consumers set leased_until = null`.execute(transaction);
      // On a cluster, now() is of another server for each statement.
      return Math.round(rows[0]!.seconds);
    });
  expect(await leasedFor(5)).toBe(5);
  expect(await leasedFor()).toBe(CONSUMER_LEASE_SECONDS);
});

describe('a process that runs consumers', () => {
  /** Runs them with turns that end when they are told to. */
  function run(slots: number) {
    const begun: string[] = [];
    const ends = new Map<string, (end: 'more' | 'released') => void>();
    const failed: Error[] = [];
    const consumers = runConsumers({
      db: given.database.db,
      kind: 'webhook',
      concurrency: slots,
      onError: (error) => void failed.push(error),
      run: (consumer, signal) =>
        new Promise((end, fail) => {
          begun.push(consumer.id);
          ends.set(consumer.id, end);
          if (signal.aborted) fail(new Error('begun too late'));
          signal.addEventListener('abort', () => fail(new Error('aborted')));
        }),
    });
    onTestFinished(() => consumers.close());
    return { ...consumers, begun, ends, failed };
  }

  test('has as many turns under way as it has slots, and each is given back when it ends', async () => {
    await confirm();
    const ids = [await add(), await add(), await add()];
    const { poll: look, begun, ends } = run(2);
    await look();
    await look();
    expect(begun).toEqual(ids.slice(0, 2));
    ends.get(ids[0]!)!('more');
    await waitUntil('the third has its turn', async () => (await look(), begun.length === 3));
    expect(begun[2]).toBe(ids[2]);
    ends.get(ids[1]!)!('more');
    await waitUntil('the first has another', async () => (await look(), begun.length === 4));
    expect(begun[3]).toBe(ids[0]);
  });

  test('begins the run of a consumer that waits as soon as another run ends', async () => {
    await confirm();
    const ids = [await add(), await add()];
    const { poll, begun, ends } = run(1);
    await poll();
    expect(begun).toEqual([ids[0]]);
    // It does not ask for another run, and nobody polls.
    ends.get(ids[0]!)!('released');
    await waitUntil('the second has begun', () => begun.length === 2);
    expect(begun[1]).toBe(ids[1]);
  });

  test('that stops aborts its turns and begins no other', async () => {
    await confirm();
    await add();
    const { poll: look, close, begun, failed } = run(1);
    await look();
    await close();
    expect(failed.map(({ message }) => message)).toEqual(['aborted']);
    await pass(60);
    await look();
    // When this resolves, whatever was begun has ended.
    await close();
    expect(begun).toHaveLength(1);
  });

  test('releases the lease of a turn that failed', async () => {
    await confirm();
    const id = await add();
    const failed: Error[] = [];
    const { poll: look, close } = runConsumers({
      db: given.database.db,
      kind: 'webhook',
      concurrency: 1,
      onError: (error) => void failed.push(error),
      run: () => Promise.reject(new Error('no luck')),
    });
    onTestFinished(close);
    const { rows } = await sql<{ before: Date }>`select clock_timestamp() as before`.execute(
      given.database.db,
    );
    await look();
    const consumers = given.database.db.selectFrom('journal_consumers').selectAll().where('id', '=', id);
    const { next_at: nextAt } = await waitUntil('the lease is released', async () => {
      const consumer = await consumers.executeTakeFirstOrThrow();
      return failed.length === 1 && consumer.lease === null && consumer;
    });
    // A second after it failed, by Postgres's clock.
    expect(nextAt.getTime()).toBeGreaterThanOrEqual(rows[0]!.before.getTime() + 1_000);
  });

  test('releases the lease as soon as Postgres answers again, if the turn failed in its outage', async () => {
    await confirm();
    const id = await add();
    const wire = await TcpProxy.start(given.database.url);
    const db = connect({
      connectionString: wire.through(given.database.url),
      applicationName: 'consumers',
      maxConnections: 2,
    });
    const { poll: look, close } = runConsumers({
      db,
      kind: 'webhook',
      concurrency: 1,
      onError: () => {},
      run: () => {
        wire.setMode('down');
        return Promise.reject(new Error('the connection was lost'));
      },
    });
    onTestFinished(async () => {
      await close();
      await db.destroy();
      await wire.stop();
    });
    await look();
    const fails = () =>
      look().then(
        () => false,
        () => true,
      );
    await waitUntil('the turn has failed, and Postgres does not answer', fails);
    const consumers = given.database.db.selectFrom('journal_consumers').select('lease').where('id', '=', id);
    expect(await consumers.executeTakeFirst()).not.toEqual({ lease: null });
    // The first lease does not expire while this test runs.
    await sql`update journal_consumers set leased_until = now() + interval '1 day' where id = ${id}`.execute(
      given.database.db,
    );
    wire.setMode('pass');
    // A turn begins, and cuts the wire again.
    await waitUntil('it has its next turn', async () => (await look().catch(() => {}), wire.mode === 'down'));
  });

  test('that stops waits for a look that takes long, and releases what it leases', async () => {
    await confirm();
    const id = await add();
    const { poll: look, close, begun } = run(1);
    const owner = await given.database.db.startTransaction().execute();
    let unlocked: Promise<void> | undefined;
    const unlock = () => (unlocked ??= owner.rollback().execute());
    onTestFinished(unlock);
    await sql`lock table journal_consumers in access exclusive mode`.execute(owner);
    const looked = look();
    await waitForLockWaiters(given.database.db, 1);
    const closed = close();
    // A round does not wait longer than two seconds for its looks.
    const first = await Promise.race([looked.then(() => 'look'), closed.then(() => 'close')]);
    expect(first).toBe('look');
    await unlock();
    await closed;
    const consumers = given.database.db.selectFrom('journal_consumers').select('lease').where('id', '=', id);
    expect(await consumers.execute()).toEqual([{ lease: null }]);
    expect(begun).toEqual([]);
  });
});
