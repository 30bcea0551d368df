import { setTimeout as delay } from 'node:timers/promises';
import { perform } from '@floodgate/audit';
import { disableMailAction, pauseMailAction, resumeMailAction } from '@floodgate/mail/actions';
import { MAX_SENDING } from '@floodgate/deliveries';
import { readMailStatus } from '@floodgate/mail/status';
import { changeRegistrations } from '@floodgate/registrations';
import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { finalizePending } from '../harness/journal.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { endLeases } from '../harness/pass-time.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';
import {
  addresses,
  confirm,
  deliveriesOf,
  enable,
  makeDue,
  startMailProcess,
  waitForState,
} from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// One e-mail per registration, whatever dies; and the one window that is left.

test.override('ticket', { capacity: 100_000 });

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries');
});

test('a process that is killed while it sends: nobody is forgotten, and at most those under way get a second one', async () => {
  const server = await startMailServer();
  const [count, kills] = [1_500, 3];
  const everybody = addresses(count);
  await confirm(given.database.db, given.gala, given.ticketId, everybody);
  await enable(given.database.db, given.gala);
  let possible = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const process = await startMailProcess(given.database, { SMTP_URL: server.url });
    const enough = (count / (kills + 1)) * kill;
    await waitUntil(`${enough} were sent`, () => server.mails.length >= enough);
    await process.end('SIGKILL');
    possible += MAX_SENDING;
    await endLeases(given.database.db);
  }
  await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', count);
  const mails = Map.groupBy(server.mails, ({ to }) => to);
  expect(new Set(mails.keys())).toEqual(new Set(everybody));
  const twice = [...mails.values()].filter((all) => all.length > 1);
  const deliveries = await deliveriesOf(given.database.db, given.gala);
  const possiblyTwice = deliveries.filter((one) => one.possiblyTwice).length;
  expect(server.mails.length - count).toBeLessThanOrEqual(possible);
  // What may have been sent twice is known, and a second one is the same message.
  expect(twice.length).toBeLessThanOrEqual(possiblyTwice);
  expect(possiblyTwice).toBeLessThanOrEqual(possible);
  for (const all of twice) expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1);
});

test('two journal entries of one registration lead to one e-mail', async () => {
  const server = await startMailServer();
  await confirm(given.database.db, given.gala, given.ticketId, addresses(3));
  // Releases that published a confirmation twice have left such entries.
  await sql`
    insert into journal_segments
      (shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials)
    select shard_id, event_id, partner_id, last_offset + count, count, kind, first_serial, last_serial, serials
    from journal_segments where shard_id = ${given.gala.shardId} and event_id = ${given.gala.eventId}`.execute(
    given.database.db,
  );
  await sql`
    update journal_heads set last_offset = last_offset + 3 where shard_id = ${given.gala.shardId}`.execute(
    given.database.db,
  );
  await enable(given.database.db, given.gala);
  const process = await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', 3);
  expect(await process.end('SIGTERM')).toBe(0);
  expect(server.mails.map(({ to }) => to).toSorted()).toEqual(addresses(3));
  expect(await deliveriesOf(given.database.db, given.gala)).toHaveLength(3);
});

test('a process that stops in good order leaves nothing in doubt', async () => {
  const server = await startMailServer();
  await confirm(given.database.db, given.gala, given.ticketId, addresses(800));
  await enable(given.database.db, given.gala);
  // From the fiftieth on they are in flight until the process has begun to stop.
  const { promise: isStopping, resolve: go } = Promise.withResolvers<undefined>();
  server.onMessage = () => (server.mails.length < 50 ? undefined : isStopping);
  const first = await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('some were sent', () => server.mails.length >= 50);
  const ended = first.end('SIGTERM');
  await waitUntil('it stops', () => first.output().includes('"msg":"stopping"'));
  go(undefined);
  expect(await ended).toBe(0);
  const before = server.mails.length;
  const states = (await deliveriesOf(given.database.db, given.gala)).map(({ state }) => state);
  expect(states.filter((state) => state === 'sent')).toHaveLength(before);
  expect(states).not.toContain('sending');
  expect(before).toBeLessThan(800);
  await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'sent', 800);
  expect(server.mails).toHaveLength(800);
  expect(
    (await deliveriesOf(given.database.db, given.gala)).filter(({ possiblyTwice }) => possiblyTwice),
  ).toEqual([]);
});

test('an e-mail whose acceptance was not heard is sent again, and known to be in doubt', async () => {
  const server = await startMailServer();
  server.answers = false;
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1));
  await enable(given.database.db, given.gala);
  await startMailProcess(given.database, { SMTP_URL: server.url });
  expect(await waitForState(given.database.db, given.gala, 'retry', 1)).toMatchObject([
    { attempts: 1, possiblyTwice: true },
  ]);
  server.answers = true;
  await makeDue(given.database.db);
  expect(await waitForState(given.database.db, given.gala, 'sent', 1)).toMatchObject([
    { attempts: 2, possiblyTwice: true },
  ]);
  expect(server.mails).toHaveLength(2);
  expect(server.mails[0]!.messageId).toBe(server.mails[1]!.messageId);
});

test('an e-mail whose acceptance is never heard is handed over three times, and no more', async () => {
  const server = await startMailServer();
  server.answers = false;
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1));
  await enable(given.database.db, given.gala);
  await startMailProcess(given.database, { SMTP_URL: server.url });
  for (const attempts of [1, 2]) {
    await waitUntil(`attempt ${attempts}`, async () =>
      (await deliveriesOf(given.database.db, given.gala)).some((one) => one.attempts === attempts),
    );
    await makeDue(given.database.db);
  }
  expect(await waitForState(given.database.db, given.gala, 'sent', 1)).toMatchObject([
    { attempts: 3, possiblyTwice: true, reason: expect.stringContaining('in attempt 3') },
  ]);
  expect(server.mails).toHaveLength(3);
});

test('an e-mail that was refused twice and is handed over once, without an answer, does not count as sent', async () => {
  const server = await startMailServer();
  server.onRecipient = () => ({ responseCode: 451, message: '4.7.1 greylisted' });
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1));
  await enable(given.database.db, given.gala);
  await startMailProcess(given.database, { SMTP_URL: server.url });
  for (const attempts of [1, 2, 3]) {
    if (attempts === 3) [server.onRecipient, server.answers] = [() => undefined, false];
    await makeDue(given.database.db);
    await waitUntil(`attempt ${attempts}`, async () =>
      (await deliveriesOf(given.database.db, given.gala)).some((one) => one.attempts === attempts),
    );
  }
  expect(await waitForState(given.database.db, given.gala, 'retry', 1)).toMatchObject([
    { attempts: 3, possiblyTwice: true },
  ]);
  expect(server.mails).toHaveLength(1);
});

test('paused and resumed, or switched off and on, while it sends: nobody gets a second one', async () => {
  const server = await startMailServer();
  server.onMessage = () => delay(30, undefined);
  await confirm(given.database.db, given.gala, given.ticketId, addresses(600));
  await enable(given.database.db, given.gala);
  await Promise.all([1, 2].map(() => startMailProcess(given.database, { SMTP_URL: server.url })));
  const act = (action: typeof pauseMailAction) =>
    perform(given.database.db, action, { eventId: given.gala.eventId }, 'test');
  const sendsMore = (before = server.mails.length) =>
    waitUntil('some more were sent', () => server.mails.length >= before + 50);
  await sendsMore();
  await act(pauseMailAction);
  await act(resumeMailAction);
  await sendsMore();
  await act(disableMailAction);
  await enable(given.database.db, given.gala);
  await waitForState(given.database.db, given.gala, 'sent', 600);
  expect(new Set(server.mails.map(({ to }) => to)).size).toBe(600);
  expect(server.mails).toHaveLength(600);
  expect(
    (await deliveriesOf(given.database.db, given.gala)).filter(({ possiblyTwice }) => possiblyTwice),
  ).toEqual([]);
});

test('switched off and on while the server is slow to answer: nobody gets a second one', async () => {
  const server = await startMailServer();
  let received = 0;
  let answer = () => {};
  const answers = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
  server.onMessage = () => ((received += 1), answers);
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1));
  await enable(given.database.db, given.gala);
  await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('the server thinks', () => received === 1);
  await perform(given.database.db, disableMailAction, { eventId: given.gala.eventId }, 'test');
  expect(await readMailStatus(given.database.db)).toMatchObject({ events: [] });
  await enable(given.database.db, given.gala);
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(given.database.db);
  await waitUntil('it was looked at again', async () => {
    const consumers = given.database.db
      .selectFrom('journal_consumers')
      .select('id')
      .where('next_at', '>', rows[0]!.at);
    return received > 1 || (await consumers.where('state', '=', 'active').executeTakeFirst());
  });
  answer();
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1, 'later'));
  await waitForState(given.database.db, given.gala, 'sent', 2);
  expect(server.mails.map(({ to }) => to)).toEqual([...addresses(1), ...addresses(1, 'later')]);
});

test('a connection that is lost before a message was handed over leaves no doubt', async () => {
  const server = await startMailServer();
  const { port } = new URL(server.url);
  let cut = 0;
  server.onRecipient = () => {
    cut += 1;
    void server.stop();
    return undefined;
  };
  await confirm(given.database.db, given.gala, given.ticketId, addresses(5));
  await enable(given.database.db, given.gala);
  await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('it was cut', () => cut > 0);
  const again = await startMailServer(Number(port));
  await waitForState(given.database.db, given.gala, 'sent', 5);
  expect(server.mails.length + again.mails.length).toBe(5);
  expect(
    (await deliveriesOf(given.database.db, given.gala)).filter(({ possiblyTwice }) => possiblyTwice),
  ).toEqual([]);
});

test('while Postgres takes no outcomes, no more than those under way are sent; they are written when it does', async () => {
  const server = await startMailServer();
  await confirm(given.database.db, given.gala, given.ticketId, addresses(400));
  await enable(given.database.db, given.gala);
  const refuse = sql`
    create or replace function refuse_mails() returns trigger language plpgsql as $$
    begin raise exception 'not now'; end $$`;
  await refuse.execute(given.database.db);
  await sql`
    create trigger refuse_mails before update on deliveries for each row when (new.state <> 'sending') execute function refuse_mails()`.execute(
    given.database.db,
  );
  const { output } = await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('it has sent all that it may', () => server.mails.length === MAX_SENDING);
  await waitUntil('it says so', () => output().includes('cannot record outcomes of e-mails'));
  expect(server.mails).toHaveLength(MAX_SENDING);
  await sql`drop trigger refuse_mails on deliveries`.execute(given.database.db);
  await waitForState(given.database.db, given.gala, 'sent', 400);
  expect(server.mails).toHaveLength(400);
});

test('processes that are killed while they send e-mails about cancellations: each attendee hears of it once', async () => {
  const server = await startMailServer();
  const [count, kills] = [400, 3];
  const everybody = addresses(count);
  await enable(given.database.db, given.gala);
  const first = await startMailProcess(given.database, { SMTP_URL: server.url });
  await confirm(given.database.db, given.gala, given.ticketId, everybody);
  await waitForState(given.database.db, given.gala, 'sent', count);
  await first.end('SIGTERM');
  await cancelAll();
  const cancelled = () => server.mails.filter(({ messageId }) => messageId.startsWith('<cancelled.'));
  for (let kill = 1; kill <= kills; kill += 1) {
    const process = await startMailProcess(given.database, { SMTP_URL: server.url });
    const enough = (count / (kills + 1)) * kill;
    await waitUntil(`${enough} were sent`, () => cancelled().length >= enough);
    await process.end('SIGKILL');
    await endLeases(given.database.db);
  }
  await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('all are recorded', async () => {
    const all = await deliveriesOf(given.database.db, given.gala, 'cancellation');
    return all.filter(({ state }) => state === 'sent').length === count;
  });
  const mails = Map.groupBy(cancelled(), ({ to }) => to);
  expect(new Set(mails.keys())).toEqual(new Set(everybody));
  expect(cancelled().length - count).toBeLessThanOrEqual(MAX_SENDING * kills);
  for (const all of mails.values()) expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1);
});

/** Cancels every registration of the event as an operator does, and publishes it. */
async function cancelAll(): Promise<void> {
  const { shardId, partnerId, eventId } = given.gala;
  const registrations = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code as passCode'])
    .where('event_id', '=', eventId)
    .execute();
  const due = registrations.map((one) => ({ ...one, partnerId, eventId }));
  await changeRegistrations(given.database.db, shardId, 'cancelled', due, { byOperator: true });
  await finalizePending(given.database.db, shardId);
}
