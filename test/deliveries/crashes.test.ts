import { leaseDeliveries } from '@floodgate/deliveries';
import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { waitForEndOfConnections, waitForLockWaiters } from '../harness/lock-waiters.ts';
import { startMailServer, type MailServer } from '../harness/mail-server.ts';
import { endLeases } from '../harness/pass-time.ts';
import { waitUntil } from '../harness/wait-until.ts';
import {
  addresses,
  confirm,
  deliveriesOf,
  enable,
  startMailProcess,
  waitForState,
} from '../mail/mail-process.ts';
import { eventTest } from '../harness/event-test.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// A process is killed in each state of a delivery. The outcome is the one that the page about e-mails names.

let server: MailServer;
beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
  server = await startMailServer();
  await confirm(given.database.db, given.gala, await given.gala.addTicket(), addresses(1));
});

const start = () => startMailProcess(given.database, { SMTP_URL: server.url });
const only = async () => (await deliveriesOf(given.database.db, given.gala))[0];
const reaches = (state: string) =>
  waitUntil(`the delivery is ${state}`, async () => (await only())?.state === state);

/** Locks a table. Returns what unlocks it. */
async function lockTable(
  table: string,
  mode: 'exclusive' | 'access exclusive',
): Promise<() => Promise<void>> {
  const transaction = await given.database.db.startTransaction().execute();
  await sql`lock table ${sql.table(table)} in ${sql.raw(mode)} mode`.execute(transaction);
  return () => transaction.rollback().execute();
}

async function finish(): Promise<void> {
  await endLeases(given.database.db);
  await start();
  await waitForState(given.database.db, given.gala, 'sent', 1);
}

test('before it is queued: it is sent once', async () => {
  await enable(given.database.db, given.gala);
  const unlock = await lockTable('deliveries', 'exclusive');
  const killed = await start();
  // The statement that queues it, and the one that deletes old deliveries.
  await waitForLockWaiters(given.database.db, 2);
  await killed.end('SIGKILL');
  await unlock();
  expect(await deliveriesOf(given.database.db, given.gala)).toEqual([]);
  await finish();
  expect(server.mails).toHaveLength(1);
  expect(await only()).toMatchObject({ possiblyTwice: false });
});

test('while it is queued: it is sent once', async () => {
  const { port } = new URL(server.url);
  await server.stop();
  await enable(given.database.db, given.gala);
  const killed = await start();
  await waitUntil('the server is missed', () => killed.output().includes('accepts no e-mails'));
  await reaches('queued');
  await killed.end('SIGKILL');
  server = await startMailServer(Number(port));
  await finish();
  expect(server.mails).toHaveLength(1);
});

test('while it is sending, before SMTP: it is sent once after its lease, and counted as possibly sent twice', async () => {
  await enable(given.database.db, given.gala);
  // The registration cannot be loaded.
  const unlock = await lockTable('registrations', 'access exclusive');
  const killed = await start();
  await reaches('sending');
  await killed.end('SIGKILL');
  await unlock();
  await finish();
  expect(server.mails).toHaveLength(1);
  // The attempt in which the process died counts.
  expect(await only()).toMatchObject({ possiblyTwice: true, attempts: 2 });
});

test('after the server accepted it: it is sent again as the same message, and counted', async () => {
  await sql`alter table deliveries add constraint not_now check (state <> 'sent')`.execute(given.database.db);
  await enable(given.database.db, given.gala);
  const killed = await start();
  await waitUntil('the server has it', () => server.mails.length === 1);
  await killed.end('SIGKILL');
  await waitForEndOfConnections(given.database.db, 'floodgate-delivery');
  expect(await only()).toMatchObject({ state: 'sending' });
  await sql`alter table deliveries drop constraint not_now`.execute(given.database.db);
  await finish();
  expect(server.mails.map(({ messageId }) => messageId)).toEqual([
    server.mails[0]!.messageId,
    server.mails[0]!.messageId,
  ]);
  expect(await only()).toMatchObject({ possiblyTwice: true });
});

test('in each of nine attempts: it is given up', async () => {
  await enable(given.database.db, given.gala);
  const unlock = await lockTable('registrations', 'access exclusive');
  const killed = await start();
  await reaches('sending');
  await killed.end('SIGKILL');
  await unlock();
  await sql`update deliveries set attempts = 8`.execute(given.database.db);
  await endLeases(given.database.db);
  await start();
  await reaches('undeliverable');
  expect(await only()).toMatchObject({ attempts: 9, reason: 'process died', possiblyTwice: true });
  expect(server.mails).toEqual([]);
});

test('processes die with many, several times: those are leased one at a time, and others beside them', async () => {
  await confirm(given.database.db, given.gala, await given.gala.addTicket(), addresses(6, 'more'));
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, attempts, due_at)
    select shard_id, event_id, 'confirmation', serial::text, case when serial % 2 = 0 then 'sending' else 'queued' end, 2, now()
    from registrations where event_id = ${given.gala.eventId}`.execute(given.database.db);
  const kinds = [{ name: 'confirmation', consumerKind: null }];
  const lease = (withSuspect: boolean) =>
    leaseDeliveries(given.database.db, given.gala.shardId, kinds, 25, withSuspect);
  const first = await lease(true);
  const suspects = first.filter(({ isSuspect }) => isSuspect);
  expect(suspects).toMatchObject([{ attempts: 3, possiblyTwice: true }]);
  expect(first.filter(({ subject }) => Number(subject) % 2 === 1)).toHaveLength(first.length - 1);
  expect(await lease(false)).toEqual([]);
  expect(await lease(true)).toMatchObject([{ attempts: 3, possiblyTwice: true }]);
});

test('after it was recorded: it is not sent again', async () => {
  await enable(given.database.db, given.gala);
  const killed = await start();
  await waitForState(given.database.db, given.gala, 'sent', 1);
  await killed.end('SIGKILL');
  await endLeases(given.database.db);
  await confirm(given.database.db, given.gala, await given.gala.addTicket(), addresses(1, 'later'));
  await start();
  await waitForState(given.database.db, given.gala, 'sent', 2);
  expect(server.mails.map(({ to }) => to)).toEqual([...addresses(1), ...addresses(1, 'later')]);
});
