import { createPublicKey, verify } from 'node:crypto';
import { grantEvent, revokeEvent } from '@floodgate/events';
import { advanceIdleConsumers } from '@floodgate/journal';
import { issueKey, revokeKey } from '@floodgate/partners';
import { listAttempts, loadEndpoint } from '@floodgate/webhooks/endpoints';
import { readMessages } from '@floodgate/webhooks/deliver/messages';
import { secretText } from '@floodgate/webhooks/signatures';
import { changeRegistrations } from '@floodgate/registrations';
import { perform } from '@floodgate/audit';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect } from 'vitest';
import { strictReader } from '../harness/described.ts';
import { emptyTables } from '../harness/empty-tables.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { passTime } from '../harness/pass-time.ts';
import { waitUntil } from '../harness/wait-until.ts';
import {
  followChain,
  startReceiver,
  type Answering,
  type Delivery,
  type Receiver,
} from '../harness/webhook-receiver.ts';
import { addWebhook, changeWebhook, confirmSome, type NewWebhook } from '../harness/webhooks.ts';
import { deliverInTest, startReceiverInTest } from '../harness/webhooks-in-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

test.override('ticket', { capacity: 100_000 });

let receiver: Receiver;
beforeEach(async () => {
  // Others' consumers would be served as well.
  await emptyTables(given.database.db, 'journal_consumers', 'journal_segments', 'webhook_endpoints');
  for (const table of ['journal_heads', 'consumer_scans'])
    await sql`update ${sql.table(table)} set last_offset = 0`.execute(given.database.db);
  receiver = await startReceiver();
  return async () => {
    await receiver.close();
    for (const { body } of receiver.deliveries) strictReader().assertMessage(body);
  };
});

const deliver = (options?: Parameters<typeof deliverInTest>[1]) => deliverInTest(given.database.url, options);
const confirm = (count: number, of = given.gala, ticket = given.ticketId) =>
  confirmSome(given.database.db, of, ticket, count);
const add = (request: Partial<Parameters<typeof addWebhook>[2]> = {}, of = given.gala) =>
  addWebhook(given.database.db, of, { url: receiver.url, ...request });

const consumerOf = ({ endpoint: { id } }: NewWebhook) =>
  given.database.db
    .selectFrom('journal_consumers')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
const reasonOf = async ({ endpoint: { id } }: NewWebhook) =>
  (
    await given.database.db
      .selectFrom('webhook_endpoints')
      .select('disabled_reason as reason')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).reason;

const passesTold = () => followChain(receiver.told()).passes.length;
const arrived = (count: number) => waitUntil(`${count} are told`, () => passesTold() >= count);

/** Waits until an attempt has become known, and returns the latest. */
const attempted = ({ endpoint }: NewWebhook, outcome: string) =>
  waitUntil(`an attempt ends ${outcome}`, async () => {
    const [latest] = await listAttempts(given.database.db, endpoint, 1);
    return latest?.outcome === outcome && latest;
  });

describe('a message', () => {
  test('is signed so that standardwebhooks accepts it, and the public key as well', async () => {
    const { keys } = await add();
    await confirm(3);
    await deliver();
    await arrived(3);
    const [{ headers, body, id }] = receiver.deliveries as [Delivery];
    expect(new Webhook(secretText(keys.secret)).verify(body, headers)).toEqual(JSON.parse(body));
    const signature = headers['webhook-signature']!.split(' ').find((text) => text.startsWith('v1a,'))!;
    const publicKey = createPublicKey({
      format: 'der',
      type: 'spki',
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), keys.publicKey]),
    });
    const content = Buffer.from(`${id}.${headers['webhook-timestamp']}.${body}`);
    expect(verify(null, content, publicKey, Buffer.from(signature.slice(4), 'base64'))).toBe(true);
    expect(() => new Webhook(secretText(keys.secret)).verify(`${body} `, headers)).toThrow();
  });

  test('tells what has happened to registrations and tickets, in order, and nothing of attendees', async () => {
    await add();
    await confirm(2);
    const [first] = await journalOf(given.database.db, given.gala);
    const { pass_code: passCode } = await tablesOf(given.database.db)
      .selectFrom('registrations')
      .select('pass_code')
      .where('serial', '=', first!.serial!)
      .executeTakeFirstOrThrow();
    await perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity: 2 }, 'test');
    await finalizePending(given.database.db, given.gala.shardId);
    const { partnerId, eventId, shardId } = given.gala;
    await changeRegistrations(given.database.db, shardId, 'cancelled', [
      { partnerId, eventId, serial: first!.serial!, passCode, deadline: null },
    ]);
    await finalizePending(given.database.db, shardId);
    await deliver();
    await arrived(3);
    const [{ type, data }] = receiver.told() as [ReturnType<Receiver['told']>[number]];
    expect(type).toBe('event.changes');
    expect(data).toMatchObject({ eventRef: given.gala.eventRef, previousCursor: '0', cursor: '5' });
    expect(data.entries.map((entry) => entry.type)).toEqual([
      'registration.confirmed',
      'registration.confirmed',
      'ticket.sold_out',
      'registration.cancelled',
      'ticket.reopened',
    ]);
    expect(Object.keys(data.entries[0]!)).toEqual([
      'type',
      'passReference',
      'state',
      'organizedEventID',
      'organizedEventTicketID',
      'ticketTitle',
      'dateReserved',
      'dateFinalized',
      'dateCancelled',
    ]);
    expect(data.entries[2]).toMatchObject({ organizedEventTicketID: given.ticketId });
    expect(receiver.deliveries[0]!.body).not.toMatch(/jane/i);
  });

  test('carries as many as the endpoint takes, and no more than 20 KiB', async () => {
    await add({ entriesPerMessage: 7 });
    const other = await startReceiverInTest();
    await add({ entriesPerMessage: 500, url: other.url });
    await confirm(150);
    await deliver();
    await arrived(150);
    await waitUntil('the other has all', () => followChain(other.told()).passes.length === 150);
    const sizes = receiver.told().map(({ data }) => data.entries.length);
    expect(Math.max(...sizes)).toBe(7);
    expect(sizes.filter((size) => size === 7)).toHaveLength(21);
    const bytes = other.deliveries.map(({ body }) => Buffer.byteLength(body));
    expect(Math.max(...bytes)).toBeLessThanOrEqual(20 * 1024);
    expect(Math.max(...bytes)).toBeGreaterThan(18 * 1024);
    for (const one of [receiver, other]) expect(followChain(one.told()).breaks).toEqual([]);
  });

  test('tells only what was asked for, of this partner, and the chain stays whole', async () => {
    const webhook = await add({ types: ['ticket.sold_out'] });
    const stranger = await createFixture(given.database.db);
    await confirm(10, { ...given.gala, partnerId: stranger.partnerId });
    await confirm(10);
    await perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity: 20 }, 'test');
    await finalizePending(given.database.db, given.gala.shardId);
    await deliver();
    await waitUntil('it is told', () => receiver.deliveries.length === 1);
    await perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity: 40 }, 'test');
    await finalizePending(given.database.db, given.gala.shardId);
    await confirm(1);
    // What nobody asked for is passed over, and is in no message.
    await waitUntil('it is passed over', async () => (await consumerOf(webhook)).last_offset === 23);
    await perform(given.database.db, updateTicketAction, { ticketId: given.ticketId, capacity: 21 }, 'test');
    await finalizePending(given.database.db, given.gala.shardId);
    await waitUntil('it is told again', () => receiver.deliveries.length === 2);
    const entries = receiver.told().flatMap(({ data }) => data.entries.map(({ type }) => type));
    expect(entries).toEqual(['ticket.sold_out', 'ticket.sold_out']);
    expect(followChain(receiver.told()).breaks).toEqual([]);
  });

  test('begins with what comes from now on, where that was asked for', async () => {
    await confirm(5);
    await add({ from: 'now' });
    await confirm(2);
    await deliver();
    await arrived(2);
    expect(receiver.told()[0]!.data).toMatchObject({ previousCursor: '5', cursor: '7' });
  });

  test('follows the chain where nothing was to be told for longer than entries are kept', async () => {
    const webhook = await add();
    await confirm(2);
    await deliver();
    await arrived(2);
    await waitUntil('it is recorded', async () => (await consumerOf(webhook)).last_offset === 2);
    // Another partner under the same event: its entries are in the same journal.
    const { partnerId } = await createFixture(given.database.db);
    for (const count of [3, 3]) await confirm(count, { ...given.gala, partnerId });
    const scans = tablesOf(given.database.db).selectFrom('consumer_scans').select('last_offset as scanned');
    const ofShard = scans.where('shard_id', '=', given.gala.shardId);
    await waitUntil('the journal is scanned', async () => (await ofShard.executeTakeFirst())?.scanned === 8);
    // The delivery process does this every hour.
    await advanceIdleConsumers(given.database.db, given.gala.shardId, 'webhook');
    await sql`delete from journal_segments where last_offset <= 5`.execute(given.database.db);
    await confirm(1);
    await arrived(3);
    expect(followChain(receiver.told())).toMatchObject({ breaks: [], cursor: '9' });
  });

  test('after a gap of what is no longer kept begins a new chain', async () => {
    const webhook = await add();
    await confirm(2);
    await deliver();
    await arrived(2);
    await waitUntil('it is noted', async () => (await consumerOf(webhook)).last_offset === 2);
    await changeWebhook(given.database.db, webhook.endpoint, 'pause');
    await confirm(2);
    await confirm(2);
    await sql`delete from journal_segments where last_offset <= 4`.execute(given.database.db);
    await changeWebhook(given.database.db, webhook.endpoint, 'resume');
    await arrived(4);
    expect(followChain(receiver.told())).toMatchObject({ breaks: ['2, then 0–6'], cursor: '6' });
  });
});

describe('a message that does not arrive', () => {
  const answers: Record<string, Answering> = {
    'a 500': (_, response) => void response.writeHead(500).end(),
    'a redirect': (_, response) => void response.writeHead(307, { location: receiver.url }).end(),
    'a closed connection': (_, response) => void response.socket!.destroy(),
    'a 503 without Retry-After': (_, response) => void response.writeHead(503).end(),
  };

  test.for(Object.keys(answers))('because of %s comes again later, the same', async (what) => {
    const webhook = await add();
    receiver.answerBy(answers[what]!);
    await confirm(3);
    await deliver();
    await waitUntil('it has failed', async () => (await consumerOf(webhook)).failures === 1);
    expect(receiver.deliveries).toHaveLength(1);
    // What comes meanwhile is no part of it, nor do names and settings that change.
    await confirm(2);
    await sql`update tickets set title = 'Renamed' where id = ${given.ticketId}`.execute(given.db);
    await sql`update webhook_endpoints set include = '{partnerReference}'`.execute(given.db);
    receiver.accept();
    await passTime(given.database.db, given.gala.shardId, 6);
    await arrived(5);
    const [first, again, next] = receiver.deliveries;
    expect([again!.id, again!.body]).toEqual([first!.id, first!.body]);
    expect(next!.id).not.toBe(first!.id);
    expect(next!.body).toContain('"ticketTitle":"Renamed"');
    expect(followChain(receiver.told()).breaks).toEqual([]);
    await waitUntil('both are noted', async () => {
      const attempts = await listAttempts(given.database.db, webhook.endpoint, 10);
      return attempts.filter(({ outcome }) => outcome === 'delivered').length === 2;
    });
    expect(await consumerOf(webhook)).toMatchObject({ failures: 0, failing_since: null });
  });

  test('is another message, with another id, if its content changed before it could be stored', async () => {
    const webhook = await add();
    receiver.answerBy(answers['a 500']!);
    await confirm(3);
    await deliver();
    await waitUntil('it has failed', async () => (await consumerOf(webhook)).failures === 1);
    // As after a crash.
    await sql`update webhook_endpoints set refused_message = null`.execute(given.db);
    await sql`update tickets set title = 'Renamed' where id = ${given.ticketId}`.execute(given.db);
    receiver.accept();
    await passTime(given.database.db, given.gala.shardId, 6);
    await waitUntil('it comes again', () => receiver.deliveries.length === 2);
    const [first, again] = receiver.deliveries;
    expect(again!.body).not.toBe(first!.body);
    expect(again!.id).not.toBe(first!.id);
    expect(followChain(receiver.told()).breaks).toEqual([]);
  });

  test('is given up where the receiver says 410', async () => {
    const webhook = await add();
    receiver.answerBy((_, response) => void response.writeHead(410).end());
    await confirm(1);
    await deliver();
    await waitUntil('it is disabled', async () => (await consumerOf(webhook)).state === 'disabled');
    expect(await reasonOf(webhook)).toBe('gone');
  });

  test('waits as long as the receiver asks for, and that is no failure', async () => {
    const webhook = await add();
    receiver.answerBy((_, response) => void response.writeHead(429, { 'retry-after': '120' }).end());
    await confirm(1);
    await deliver();
    await attempted(webhook, 'slowed');
    await waitUntil('it was given back', async () => (await consumerOf(webhook)).lease === null);
    const { next_at: nextAt, failing_since: failingSince, failures } = await consumerOf(webhook);
    expect(failures).toBe(0);
    // By one clock: both are when it was given back.
    expect(nextAt.getTime() - failingSince!.getTime()).toBe(120_000);
    receiver.accept();
    await passTime(given.database.db, given.gala.shardId, 120);
    await arrived(1);
    expect(new Set(receiver.deliveries.map(({ id }) => id)).size).toBe(1);
    await waitUntil('it is noted', async () => (await consumerOf(webhook)).failing_since === null);
  });

  test.for([
    ['fails', 500],
    ['asks to wait', 503],
    ['fails now and then, and asks to wait', 500, 429],
  ] as const)('is given up where the receiver %s for five days, and not before', async ([, ...statuses]) => {
    const webhook = await add();
    receiver.answerBy((_, response, attempt) => {
      const status = statuses[(attempt - 1) % statuses.length]!;
      response.writeHead(status, status === 500 ? {} : { 'retry-after': '60' }).end();
    });
    await confirm(1);
    await deliver();
    const givenBack = (attempts: number) =>
      waitUntil('it has waited for an answer, and waits for its time', async () => {
        const consumer = await consumerOf(webhook);
        return receiver.deliveries.length === attempts && consumer.lease === null && consumer;
      });
    const { failing_since: since } = await givenBack(1);
    await passTime(given.database.db, given.gala.shardId, 5 * 86_400 - 600);
    const { state, failures, failing_since: again } = await givenBack(2);
    expect(state).toBe('active');
    expect(failures).toBe(statuses.length > 1 ? 1 : statuses[0] === 500 ? 2 : 0);
    expect(again!.getTime()).toBe(since!.getTime() - (5 * 86_400 - 600) * 1_000);
    await passTime(given.database.db, given.gala.shardId, 1_200);
    await waitUntil('it is disabled', async () => (await consumerOf(webhook)).state === 'disabled');
    expect(await reasonOf(webhook)).toBe('failing');
    expect(receiver.deliveries).toHaveLength(3);
  });
});

describe('keys', () => {
  test('both sign while both are valid, and then only the new ones', async () => {
    const { endpoint, keys: old } = await add();
    await confirm(1);
    await deliver();
    await arrived(1);
    const renewed = (await changeWebhook(given.database.db, endpoint, 'rotate')) as NewWebhook;
    await confirm(1);
    await arrived(2);
    await sql`update webhook_secrets set ends_at = now() where ends_at is not null`.execute(
      given.database.db,
    );
    await confirm(1);
    await arrived(3);
    const accepts = (secret: Buffer) =>
      receiver.deliveries.map(({ body, headers }) => {
        try {
          new Webhook(secretText(secret)).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
    expect(accepts(old.secret)).toEqual([true, true, false]);
    expect(accepts(renewed.keys.secret)).toEqual([false, true, true]);
  });
});

describe('where messages may go', () => {
  test('a private address is refused on every attempt, and nothing arrives', async () => {
    const webhook = await add({ url: `https://127.0.0.1:${receiver.port}/` });
    await confirm(1);
    await deliver({ allowPrivate: false });
    for (const failures of [1, 2]) {
      await waitUntil('it has failed', async () => (await consumerOf(webhook)).failures === failures);
      await passTime(given.database.db, given.gala.shardId, 600);
    }
    const attempts = await listAttempts(given.database.db, webhook.endpoint, 2);
    const refused = { outcome: 'failed', error: 'FORBIDDEN_ADDRESS', httpStatus: null };
    expect(attempts).toMatchObject([refused, refused]);
    expect(receiver.deliveries).toEqual([]);
  });

  // The other way round, so that nobody outside is called: of a test event only who is inside may be told.
  test('a name that stands for somebody else by the next connection is refused then, though it was fine before', async () => {
    const trial = await createFixture(given.database.db, 'allow', 'test');
    const trialTicket = await trial.addTicket();
    const asked: string[] = [];
    receiver.answerBy((_, response) => void response.writeHead(204, { connection: 'close' }).end());
    const webhook = await add({ url: `http://rebinding.example:${receiver.port}/` }, trial);
    await confirm(1, trial, trialTicket);
    await deliver({
      resolve: (host) => {
        asked.push(host);
        return Promise.resolve([{ address: asked.length === 1 ? '127.0.0.1' : '203.0.114.1', family: 4 }]);
      },
    });
    await arrived(1);
    await confirm(1, trial, trialTicket);
    expect(await attempted(webhook, 'failed')).toMatchObject({
      error: 'FORBIDDEN_ADDRESS',
      httpStatus: null,
    });
    expect(asked).toEqual(['rebinding.example', 'rebinding.example']);
    expect(receiver.deliveries).toHaveLength(1);
  });

  test('of a test event nobody outside is told, nor anybody inside where that is not allowed', async () => {
    const trial = await createFixture(given.database.db, 'allow', 'test');
    const trialTicket = await trial.addTicket();
    const webhook = await add({}, trial);
    await confirm(1, trial, trialTicket);
    await deliver({ allowPrivate: false });
    await waitUntil('it is disabled', async () => (await consumerOf(webhook)).state === 'disabled');
    expect(await reasonOf(webhook)).toBe('test_event');
    expect(receiver.deliveries).toEqual([]);
  });

  test('of a test event somebody on this machine may be told in development, and nobody outside', async () => {
    const trial = await createFixture(given.database.db, 'allow', 'test');
    const trialTicket = await trial.addTicket();
    await add({}, trial);
    const outside = await add({ url: 'https://outside.example/' }, trial);
    await confirm(1, trial, trialTicket);
    await deliver({ resolve: () => Promise.resolve([{ address: '203.0.114.1', family: 4 }]) });
    await arrived(1);
    expect(await attempted(outside, 'failed')).toMatchObject({ error: 'FORBIDDEN_ADDRESS' });
  });
});

describe('a webhook whose partner lost access to the event', () => {
  type Loss = [string, { lose: () => Promise<unknown>; regain: () => Promise<unknown> }];
  const losses: Loss[] = [
    [
      'the event was revoked',
      {
        lose: () => revokeEvent(given.database.db, given.gala.partnerId, given.gala.eventId),
        regain: () => grantEvent(given.database.db, given.gala.partnerId, given.gala.eventId),
      },
    ],
    [
      'all its keys were revoked',
      {
        lose: () => revokeKey(given.database.db, given.gala.keyId),
        regain: () => issueKey(given.database.db, given.gala.partnerId),
      },
    ],
  ];

  test.for(losses)(
    'sends nothing, and continues where it stopped when access is back: %s',
    async ([, { lose, regain }]) => {
      const webhook = await add();
      await confirm(1);
      await deliver();
      await arrived(1);
      await lose();
      await confirm(2);
      await waitUntil('it waits for access', async () => {
        const { next_at: nextAt, lease } = await consumerOf(webhook);
        return lease === null && nextAt.getTime() > Date.now();
      });
      await changeWebhook(given.database.db, webhook.endpoint, 'test');
      expect(await attempted(webhook, 'failed')).toMatchObject({ error: 'NO_ACCESS' });
      expect(receiver.deliveries).toHaveLength(1);
      // What happened in between is delivered, once.
      await regain();
      await passTime(given.database.db, given.gala.shardId, 60);
      await arrived(3);
      expect(followChain(receiver.told())).toMatchObject({ breaks: [], cursor: '3' });
      expect(receiver.told().flatMap(({ data }) => data.entries)).toHaveLength(3);
      await waitUntil('it is recorded', async () => (await consumerOf(webhook)).last_offset === 3);
    },
  );
});

test('a test whose receiver hangs delays no other test', async () => {
  const hanging = await startReceiverInTest(() => {});
  const { endpoint } = await add({ url: hanging.url });
  const other = await add();
  await deliver();
  await changeWebhook(given.database.db, endpoint, 'test');
  await waitUntil('the first test hangs', () => hanging.deliveries.length === 1);
  await changeWebhook(given.database.db, other.endpoint, 'test');
  await waitUntil('the second test arrives', () => receiver.deliveries.length === 1);
  expect(await attempted(other, 'delivered')).toMatchObject({ httpStatus: 204 });
  expect(await listAttempts(given.database.db, endpoint, 1)).toEqual([]);
});

test('receivers that answer slowly leave room for the others', async () => {
  const [slots, slowSlots] = [4, 2];
  let [underWay, most] = [0, 0];
  const slow = await startReceiverInTest((_, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    // time: the receiver is slow on purpose.
    setTimeout(() => {
      underWay -= 1;
      response.end();
    }, 1_300);
  });
  const slowOnes: NewWebhook[] = [];
  for (let index = 0; index < 8; index += 1)
    slowOnes.push(await add({ url: slow.url, entriesPerMessage: 1 }));
  await confirm(50);
  await deliver({ slots });
  await waitUntil('all slow ones are known to be slow', async () => {
    const attempts = await Promise.all(
      slowOnes.map(({ endpoint }) => listAttempts(given.database.db, endpoint, 1)),
    );
    return attempts.every(([latest]) => latest) && underWay <= slowSlots;
  });
  expect(most).toBe(slots);
  most = 0;
  const sent = slow.deliveries.length;
  await add({ entriesPerMessage: 1 });
  await arrived(50);
  await waitUntil('slow ones have had their turns', () => slow.deliveries.length >= sent + 2 * slowSlots);
  expect(most).toBe(slowSlots);
  expect(followChain(receiver.told()).breaks).toEqual([]);
});

test('of a long history that nobody asked for, a part is passed over at once', async () => {
  const { endpoint } = await add({ types: ['ticket.sold_out'] });
  const { shardId, eventId } = given.gala;
  await sql`
    insert into journal_segments
      (shard_id, event_id, partner_id, last_offset, count, kind, ticket_id, first_serial, last_serial)
    select ${shardId}, ${eventId}, 0, place, 1, case when place = 41000 then 'sold_out' else 'reopened' end, ${given.ticketId}, null, null
    from generate_series(1, 41000) as place`.execute(given.database.db);
  await sql`update journal_heads set last_offset = 41000 where shard_id = ${shardId}`.execute(
    given.database.db,
  );
  const consumer = { ...endpoint, inFlightUntil: null, newsOffset: null, lease: '', leaseSeconds: 25 };
  const to = await loadEndpoint(given.database.db, endpoint);
  const reader = readMessages(given.database.db, consumer, to!, false);
  expect(await reader.next()).toBeNull();
  expect([reader.cursor, reader.hasMore]).toEqual([40_000, true]);
  expect(await reader.next()).toMatchObject({ after: 40_000, last: 41_000, entries: 1 });
  await deliver();
  await waitUntil('it arrives', () => receiver.deliveries.length === 1);
});
