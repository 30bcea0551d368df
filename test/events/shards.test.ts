import { randomUUID } from 'node:crypto';
import { registrationsWorker } from '@floodgate/registrations/worker';
import { perform } from '@floodgate/audit';
import { moveEventAction } from '@floodgate/events/actions';
import { changeRegistrations, reconcile, reserveBatch } from '@floodgate/registrations';
import { createTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { listTickets } from '@floodgate/tickets';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { createTestDatabase } from '../harness/database.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { reservationOf } from '../harness/reservation.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';
import { runCli } from '../harness/service-process.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

// Several shards need no cluster: here they are all on one Postgres.

test.beforeAll(async () => {
  await sql`insert into shards (id) values (1)`.execute(given.database.db);
  await sql`insert into journal_heads (shard_id) values (1)`.execute(given.database.db);
});

const move = (shardId: number) =>
  perform(given.database.db, moveEventAction, { eventId: given.gala.eventId, shardId }, 'test');

test('a ticket that is created while its event is moved goes with it', async () => {
  const { db } = given.database;
  const { eventId } = given.gala;
  const moving = await db.startTransaction().execute();
  await perform(moving, moveEventAction, { eventId, shardId: 1 }, 'test');
  const creating = perform(db, createTicketAction, { eventId, title: 'Late', capacity: 5 }, 'test');
  await waitForLockWaiters(db, 1);
  await moving.commit().execute();
  const { id } = await creating;
  expect((await listTickets(db, eventId)).map(({ title }) => title)).toEqual(['Late']);
  const { rows } = await sql`select shard_id from tickets where id = ${id}`.execute(db);
  expect(rows).toEqual([{ shard_id: 1 }]);
  expect(await reconcile(db)).toEqual([]);
});

test('an event waits to be moved until its new ticket is there', async () => {
  const { db } = given.database;
  const { eventId } = given.gala;
  await move(1);
  const creating = await db.startTransaction().execute();
  await perform(creating, createTicketAction, { eventId, title: 'Early', capacity: 5 }, 'test');
  const moving = move(0);
  await waitForLockWaiters(db, 1);
  await creating.commit().execute();
  await moving;
  expect((await listTickets(db, eventId)).map(({ title }) => title)).toContain('Early');
  expect(await reconcile(db)).toEqual([]);
});

test('a ticket in another shard than its event is named', async () => {
  const { db } = given.database;
  const other = await createFixture(db);
  const ticketId = await other.addTicket();
  const elsewhere = 1 - other.shardId;
  await sql`update tickets set shard_id = ${elsewhere} where id = ${ticketId}`.execute(db);
  expect(await reconcile(db)).toEqual([
    {
      subject: `shard ${elsewhere}: ticket ${ticketId}`,
      problem: `is here, but its event ${other.eventId} lives in shard ${other.shardId}`,
    },
  ]);
  await sql`delete from tickets where id = ${ticketId}`.execute(db);
});

test('a ticket is found in whatever shard it is', async () => {
  await move(1);
  const ticketId = await given.gala.addTicket();
  const changed = await perform(given.database.db, updateTicketAction, { ticketId, capacity: 7 }, 'test');
  expect(changed).toMatchObject({ id: ticketId, capacity: 7 });
});

test('an event is not moved to where there is no shard, whoever has registered for it', async () => {
  await sql`update tickets set taken = 1 where event_id = ${given.gala.eventId}`.execute(given.database.db);
  await expect(move(5)).rejects.toThrow(/^no such shard$/);
  await expect(move(1 - (await shardOf(given.gala.eventId)))).rejects.toThrow('the event has registrations');
  await sql`update tickets set taken = 0 where event_id = ${given.gala.eventId}`.execute(given.database.db);
});

test('an event stays while something waits for the worker, or for a seat', async () => {
  const { db } = given.database;
  const [sold, waited] = [await createFixture(db), await createFixture(db)];
  const moveOf = ({ eventId, shardId }: Fixture) =>
    perform(db, moveEventAction, { eventId, shardId: 1 - shardId }, 'test');
  // Its seat is free again, and its batch is not in the journal yet.
  const [seat] = await reserveBatch(db, randomUUID(), [reservationOf(sold, await sold.addTicket())]);
  await changeRegistrations(db, sold.shardId, 'cancelled', [{ ...sold, ...(seat as Seat) }]);
  await expect(moveOf(sold)).rejects.toThrow('the event has registrations');
  const organizedEventTicketID = await waited.addTicket({ capacity: 1, offerHours: 24 });
  await sql`update tickets set taken = 1 where id = ${organizedEventTicketID}`.execute(db);
  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  await joinWaitingList(db, waited, { organizedEventTicketID, contact }, null, 10_000);
  await sql`update tickets set taken = 0 where id = ${organizedEventTicketID}`.execute(db);
  await expect(moveOf(waited)).rejects.toThrow('the event has waiting lists with entries');
});

type Seat = Record<'serial' | 'passCode', number>;

async function shardOf(eventId: number): Promise<number> {
  const { rows } = await sql<{ shard: number }>`
    select shard_id as shard from events where id = ${eventId}`.execute(given.database.db);
  return rows[0]!.shard;
}

test('the list of events shows their shards where there are several', async () => {
  await move(1);
  const { output } = await runCli({ DATABASE_URL: given.database.url }, 'event', 'list');
  expect(output).toMatch(/^ *id +shard +x-event-ref/);
  expect(output).toMatch(new RegExp(`^ *${given.gala.eventId} +1 `, 'm'));
  await using one = await createOneShard();
  expect((await runCli({ DATABASE_URL: one.url }, 'event', 'list')).output).not.toContain('shard');
});

async function createOneShard() {
  const one = await createTestDatabase();
  await createFixture(one.db);
  return { url: one.url, [Symbol.asyncDispose]: () => one.drop() };
}

test('a shard in which nothing can be deleted keeps no other from it', async () => {
  const { db } = given.database;
  for (const shard of [0, 1])
    await sql`
      insert into idempotency_keys (shard_id, partner_id, event_id, key, fingerprint, outcomes, serials, created_at)
      values (${shard}, 1, 1, 'old', gen_random_uuid(), '{sold-out}', '{null}', now() - interval '2 d')`.execute(
      db,
    );
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`.execute(
    db,
  );
  await sql`
    create trigger refuse before delete on idempotency_keys for each row when (old.shard_id = 0)
    execute function refuse()`.execute(db);
  const config = { RELAY_INTERVAL_MS: 1_000, JOURNAL_RETENTION_DAYS: 1 };
  const { tasks } = registrationsWorker.open({ db, config } as never);
  const expiry = tasks.find(({ name }) => name === 'expiry')!;
  await expect(expiry.run()).rejects.toThrow('no');
  const { rows } = await sql`select shard_id from idempotency_keys`.execute(db);
  expect(rows).toEqual([{ shard_id: 0 }]);
});
