import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { DATABASE_PREFIX, templateOf, withDatabase } from '../harness/database-url.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { runCli, startDeliveryProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { followChain, type Receiver, type Told } from '../harness/webhook-receiver.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';
import { addWebhook, deliverWebhooks } from '../harness/webhooks.ts';
import { grantServiceRoles } from '../harness/service-roles.ts';

// The drill of apps/docs/operate/backup.md. A copy of a database is what a dump of it would restore.

const page = readFileSync(new URL('../../apps/docs/operate/backup.md', import.meta.url), 'utf8');
const moveCounters = /```sql\n(.*?)```/s.exec(page)![1]!;

const serverUrl = inject('serverUrls')[0]!;
const names: string[] = [];
let server: Database;

beforeAll(() => {
  server = connectInTest(serverUrl);
});
afterAll(async () => {
  for (const name of names) await sql`drop database if exists ${sql.id(name)}`.execute(server);
  await server.destroy();
});

async function copyOf(source: string): Promise<string> {
  const name = DATABASE_PREFIX.postgres + randomBytes(6).toString('hex');
  await sql`create database ${sql.id(name)} template ${sql.id(source)}`.execute(server);
  names.push(name);
  return name;
}

/** Runs an API on the database. Afterwards nobody is connected, so that it can be copied. */
async function withApi<Result>(
  name: string,
  work: (baseUrl: string, db: Database) => Promise<Result>,
): Promise<Result> {
  const url = withDatabase(serverUrl, name);
  await using db = connectInTest(url, 2);
  await grantServiceRoles(db);
  const api = await startInProcessApi({ DATABASE_URL: url });
  try {
    return await work(api.baseUrl, db);
  } finally {
    await api.close();
  }
}

/** What partners see of an event. */
function useEvent(baseUrl: string, db: Database, { ticketId, ...fixture }: Fixture & { ticketId: number }) {
  const partner = new PartnerClient(baseUrl, fixture);
  return {
    partner,
    register: async () => {
      const reference = String((await partner.register(attendee(ticketId))).body.responseData);
      await finalizePending(db, fixture.shardId);
      return reference;
    },
    list: async (after: string) => {
      const { body } = await partner.request(`/api/v1/events/registrations?after=${after}`);
      const data = body.responseData as { registrations: { passReference: string }[]; cursor: string } | null;
      return {
        code: body.responseCode,
        references: data?.registrations.map(({ passReference }) => passReference),
        cursor: data?.cursor ?? '',
      };
    },
  };
}

/** As an operator checks a pass, with the database. */
const verifyAtDoor = (name: string, pass: string) =>
  runCli({ DATABASE_URL: withDatabase(serverUrl, name) }, 'pass', 'verify', pass);

const serialOf = (reference: string) => Number(reference.split('-')[2]);

/** Sells on, after a backup, and returns the backup and what a restore of it loses. */
async function backUpAndSell() {
  const live = await copyOf(templateOf('postgres'));
  const { gala, kept } = await withApi(live, async (baseUrl, db) => {
    const fixture = await createFixture(db);
    const event = { ...fixture, ticketId: await fixture.addTicket() };
    const { register } = useEvent(baseUrl, db, event);
    return { gala: event, kept: [await register(), await register()] };
  });
  const backup = await copyOf(live);
  const lost = await withApi(live, async (baseUrl, db) => {
    const { register, list, partner } = useEvent(baseUrl, db, gala);
    const reference = await register();
    const { pass } = (await partner.pass(reference)).body.responseData as { pass: string };
    return { reference, pass, cursor: (await list('0')).cursor };
  });
  return { gala, kept, backup, lost };
}

/** Delivers until the receiver has this many messages. Afterwards nobody is connected, so that the database can be copied. */
async function deliverUntil(name: string, { deliveries }: Receiver, messages: number): Promise<void> {
  const url = withDatabase(serverUrl, name);
  await using db = connectInTest(url);
  const delivering = await deliverWebhooks(url);
  try {
    await waitUntil('the receiver has the messages, and that is stored', async () => {
      if (deliveries.length < messages) return false;
      const { rows } = await sql`select from journal_consumers where is_behind or lease is not null`.execute(
        db,
      );
      return rows.length === 0;
    });
  } finally {
    await delivering.close();
  }
  expect(deliveries).toHaveLength(messages);
}

/**
 * Sells on, after a backup, and sends three messages to the receiver. The backup has the first entry as
 * delivered, and the second as not delivered. It does not have the third.
 */
async function backUpAndTell(receiver: Receiver) {
  const live = await copyOf(templateOf('postgres'));
  const { gala, unsent } = await withApi(live, async (baseUrl, db) => {
    const fixture = await createFixture(db);
    const event = { ...fixture, ticketId: await fixture.addTicket() };
    await addWebhook(db, fixture, { url: receiver.url, types: ['registration.confirmed'] });
    const { register } = useEvent(baseUrl, db, event);
    await register();
    await deliverUntil(live, receiver, 1);
    return { gala: event, unsent: await register() };
  });
  const backup = await copyOf(live);
  await deliverUntil(live, receiver, 2);
  const lost = await withApi(live, (baseUrl, db) => useEvent(baseUrl, db, gala).register());
  await deliverUntil(live, receiver, 3);
  const [, sentAgain, ofLost] = receiver.deliveries;
  return { gala, backup, unsent, lost, sentAgain: sentAgain!, ofLost: ofLost! };
}

/** Returns the cursors and the pass references of the newest message. */
function newestOf(receiver: Receiver) {
  const { previousCursor, cursor, entries } = receiver.told().at(-1)!.data;
  return { previousCursor, cursor, references: entries.map(({ passReference }) => passReference) };
}

const idsOf = ({ deliveries }: Receiver) => new Set(deliveries.map(({ id }) => id));

describe.skipIf(inject('engine') === 'citus')('a restore of an older state', () => {
  test('gives no serial and no cursor again, once the counters are moved', async () => {
    const { gala, kept, backup, lost } = await backUpAndSell();
    const restored = await copyOf(backup);
    await withApi(restored, async (baseUrl, db) => {
      await sql.raw(moveCounters).execute(db);
      const { register, list, partner } = useEvent(baseUrl, db, gala);
      expect(await list(lost.cursor)).toMatchObject({ code: '00', references: [] });
      expect((await partner.registration(lost.reference)).body.responseCode).toBe('34');
      const next = await register();
      expect(serialOf(next)).toBeGreaterThan(serialOf(lost.reference));
      expect(await list(lost.cursor)).toMatchObject({ code: '00', references: [next] });
      expect(await list('0')).toMatchObject({ code: '00', references: [...kept, next] });
      expect((await verifyAtDoor(restored, lost.pass)).code).toBe(1);
      const other = await createFixture(db);
      expect(other.eventId).toBeGreaterThan(gala.eventId + 999);
      expect(await reconcile(db)).toEqual([]);
    });
  });

  test('nobody gets a second e-mail without the word of the operator', async () => {
    const live = await copyOf(templateOf('postgres'));
    const url = (name: string) => withDatabase(serverUrl, name);
    const mail = (name: string, ...args: string[]) => runCli({ DATABASE_URL: url(name) }, 'mail', ...args);
    const gala = await withApi(live, async (baseUrl, db) => {
      const fixture = await createFixture(db);
      const event = { ...fixture, ticketId: await fixture.addTicket() };
      await mail(live, 'enable', String(event.eventId));
      // Confirmed before the backup. Her e-mail was sent after it.
      await useEvent(baseUrl, db, event).register();
      return event;
    });
    const restored = await copyOf(live);
    const mailServer = await startMailServer();
    await withApi(restored, async (baseUrl, db) => {
      await sql.raw(moveCounters).execute(db);
      const delivery = await startDeliveryProcess({ DATABASE_URL: url(restored), SMTP_URL: mailServer.url });
      const other = await createFixture(db);
      await mail(restored, 'enable', String(other.eventId));
      const { register } = useEvent(baseUrl, db, { ...other, ticketId: await other.addTicket() });
      await register();
      await waitUntil('the delivery process sends', () => mailServer.mails.length === 1);
      await mail(restored, 'disable', String(gala.eventId));
      expect((await mail(restored, 'enable', String(gala.eventId), '--from-now')).code).toBe(0);
      await useEvent(baseUrl, db, gala).register();
      await waitUntil('a later registration gets its e-mail', () => mailServer.mails.length === 2);
      await register();
      await waitUntil('and the next one', () => mailServer.mails.length === 3);
      expect(await delivery.end()).toBe(0);
      const { rows } = await sql<{ event: number; sent: number }>`
        select event_id as event, count(*)::integer as sent from deliveries
        where state = 'sent' group by event_id order by event_id`.execute(db);
      expect(rows).toEqual([
        { event: gala.eventId, sent: 1 },
        { event: other.eventId, sent: 2 },
      ]);
    });
  });

  test('does as bad as its page says, where they are not moved', async () => {
    const { gala, backup, lost } = await backUpAndSell();
    const restored = await copyOf(backup);
    await withApi(restored, async (baseUrl, db) => {
      const { register, list } = useEvent(baseUrl, db, gala);
      expect(await list(lost.cursor)).toMatchObject({ code: '11' });
      expect(serialOf(await register())).toBe(serialOf(lost.reference));
      await register();
      expect((await list(lost.cursor)).references).toHaveLength(1);
      // The serial is somebody else's now.
      expect(await verifyAtDoor(restored, lost.pass)).toMatchObject({ code: 0 });
    });
  });

  test('a receiver of webhooks gets a message again, and then the new entries under a new id', async () => {
    const receiver = await startReceiverInTest();
    const { gala, backup, unsent, sentAgain, ofLost } = await backUpAndTell(receiver);
    const restored = await copyOf(backup);
    await withApi(restored, async (baseUrl, db) => {
      await sql.raw(moveCounters).execute(db);
      await deliverUntil(restored, receiver, 4);
      const { id, body } = receiver.deliveries[3]!;
      expect({ id, body }).toEqual({ id: sentAgain.id, body: sentAgain.body });
      expect(newestOf(receiver).references).toEqual([unsent]);

      const { register, list } = useEvent(baseUrl, db, gala);
      const next = await register();
      await deliverUntil(restored, receiver, 5);
      expect(idsOf(receiver).size).toBe(4);
      const newest = newestOf(receiver);
      expect(newest.references).toEqual([next]);
      // The receiver sees a break: its cursor is the one of the lost message.
      const [ofBackup, lostCursor] = [sentAgain, ofLost].map(
        (message) => (JSON.parse(message.body) as Told).data.cursor,
      );
      expect(newest.previousCursor).toBe(ofBackup);
      expect(followChain(receiver.told()).breaks).toEqual([
        `${lostCursor}, then ${ofBackup}–${newest.cursor}`,
      ]);
      // The list continues at the receiver's cursor.
      expect(await list(lostCursor!)).toMatchObject({ code: '00', references: [next] });
    });
  });

  test('a receiver of webhooks gets an entry again under a new id, if there are new entries with it', async () => {
    const receiver = await startReceiverInTest();
    const { gala, backup, unsent } = await backUpAndTell(receiver);
    const restored = await copyOf(backup);
    await withApi(restored, async (baseUrl, db) => {
      await sql.raw(moveCounters).execute(db);
      const next = await useEvent(baseUrl, db, gala).register();
      await deliverUntil(restored, receiver, 4);
      expect(idsOf(receiver).size).toBe(4);
      expect(newestOf(receiver).references).toEqual([unsent, next]);
    });
  });

  test('a receiver of webhooks misses a new entry, where the counters are not moved', async () => {
    const receiver = await startReceiverInTest();
    const { gala, backup, lost, ofLost } = await backUpAndTell(receiver);
    const restored = await copyOf(backup);
    await withApi(restored, async (baseUrl, db) => {
      await deliverUntil(restored, receiver, 4);
      const next = await useEvent(baseUrl, db, gala).register();
      await deliverUntil(restored, receiver, 5);
      // It has another id than the lost message, but its cursor, so receivers ignore it.
      expect(receiver.deliveries[4]!.id).not.toBe(ofLost.id);
      expect(newestOf(receiver).references).toEqual([next]);
      expect(next).not.toBe(lost);
      expect(followChain(receiver.told())).toMatchObject({ breaks: [], cursor: newestOf(receiver).cursor });
      expect(followChain(receiver.told()).passes).not.toContain(next);
    });
  });
});
