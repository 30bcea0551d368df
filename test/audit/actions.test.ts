import { perform, readAuditLog, type Action } from '@floodgate/audit';
import { createEventAction, grantEventAction, revokeEventAction } from '@floodgate/events/actions';
import { listEvents } from '@floodgate/events';
import {
  createPartnerAction,
  issueKeyAction,
  limitPartnerAction,
  weighPartnerAction,
  revokeKeyAction,
  rotateKeyAction,
} from '@floodgate/partners/actions';
import { listKeys, listPartners } from '@floodgate/partners';
import { redriveAction, redriveShards } from '@floodgate/registrations/actions';
import { Failure, InvalidInput } from '@floodgate/service';
import { listTickets } from '@floodgate/tickets';
import { createTicketAction, updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { beforeEach, describe, expect } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

beforeEach(() => sql`truncate audit_log`.execute(given.db));

/** What a form or a command line may hold: not of the types that the schema asks for. */
const attempt = (action: unknown, input: object, by = 'jane') =>
  perform(given.db, action as Action<never, unknown>, input as never, by);

const noted = async () =>
  (await readAuditLog(given.db, { limit: 100 }))
    .toReversed()
    .map(({ actor, action, subject, before, after }) => ({ actor, action, subject, before, after }));

const LONG = 'x'.repeat(256);
const PAST = new Date(0);

describe('wrong input names every wrong field with its rule', () => {
  test.for([
    ['partner', createPartnerAction, { name: '' }, ['name: 1 to 255 characters']],
    ['partner', createPartnerAction, { name: ' ' }, ['name: 1 to 255 characters']],
    ['partner', createPartnerAction, { name: LONG }, ['name: 1 to 255 characters']],
    ['partner', createPartnerAction, { name: 'a\nb' }, ['no control characters']],
    ['partner', createPartnerAction, { name: '\uD800' }, ['no control characters']],
    ['partner', createPartnerAction, { name: 'a ' }, ['no space around them']],
    [
      'limit',
      limitPartnerAction,
      { partnerId: 0, requestsPerSecond: 0 },
      ['partnerId:', 'requestsPerSecond:'],
    ],
    ['limit', limitPartnerAction, { partnerId: 1, requestsPerSecond: 1_000_001 }, ['1 to 1000000, or none']],
    ['weight', weighPartnerAction, { partnerId: 1, weight: 101 }, ['weight: a whole number from 1 to 100']],
    ['key', issueKeyAction, { partnerId: 1.5, expiresAt: 'soon' }, ['partnerId:', 'expiresAt:']],
    ['key', issueKeyAction, { partnerId: 1, expiresAt: PAST }, ['expiresAt: a time in the future']],
    [
      'key',
      rotateKeyAction,
      { keyId: 'fg_0123456789abcdef_x', overlapMs: -1 },
      ['keyId: 16 of', 'overlapMs:'],
    ],
    ['key', revokeKeyAction, { keyId: '0123456789ABCDEF' }, ['keyId: 16 of 0–9 and a–f']],
    [
      'event',
      createEventAction,
      { name: '', passPrefix: 'g', duplicatePolicy: 'x' },
      ['name:', 'passPrefix: 2 to 8', 'duplicatePolicy: allow'],
    ],
    [
      'event',
      createEventAction,
      { name: 'a', passPrefix: 'ABCDEFGHI', duplicatePolicy: 'allow' },
      ['passPrefix: 2 to 8'],
    ],
    ['grant', grantEventAction, {}, ['eventId: a whole number from 1', 'partnerId: a whole number from 1']],
    [
      'ticket',
      createTicketAction,
      { eventId: 1, title: 'a', capacity: -1, price: -1 },
      ['capacity:', 'price: an amount'],
    ],
    [
      'ticket',
      createTicketAction,
      { eventId: 1, title: 'a', capacity: 1, price: 12.505 },
      ['price: an amount'],
    ],
    [
      'ticket',
      createTicketAction,
      { eventId: 1, title: 'a', capacity: 1, price: 1e10 },
      ['price: an amount'],
    ],
    [
      'ticket',
      createTicketAction,
      { eventId: 1, title: 'a', capacity: 1, benefits: 'x'.repeat(4001) },
      ['benefits: 0 to 4000'],
    ],
    ['ticket', updateTicketAction, { ticketId: 1 }, ['nothing to change']],
    [
      'ticket',
      updateTicketAction,
      { ticketId: 1, saleStartsAt: new Date(2), saleEndsAt: new Date(1) },
      ['saleStartsAt: the sale must start before it ends'],
    ],
  ] as const)('%s: %o', async ([, action, input, rules]) => {
    const error = await attempt(action, input).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidInput);
    for (const rule of rules) expect((error as Error).message).toContain(rule);
    expect((error as Error).message).not.toContain('fg_0123456789abcdef');
    expect(await noted()).toEqual([]);
  });

  test('and so does a name of who asks that is none', async () => {
    await expect(attempt(createPartnerAction, { name: '' }, '')).rejects.toThrow(/^name: .*; by: 1 to 255/);
  });

  test('counts Unicode characters, as Postgres does', async () => {
    const name = '🎟'.repeat(255);
    await attempt(createPartnerAction, { name });
    expect((await listPartners(given.db)).some((partner) => partner.name === name)).toBe(true);
  });
});

describe('what cannot be done', () => {
  const [eventId, keyId] = [999_999, '0123456789abcdef'];
  test.for([
    ['a name twice', createPartnerAction, 'a partner of this name already exists'],
    ['a limit for nobody', limitPartnerAction, 'no such partner'],
    ['a weight for nobody', weighPartnerAction, 'no such partner'],
    ['a key for nobody', issueKeyAction, 'no such partner'],
    ['a successor of no key', rotateKeyAction, 'no such key, or it is revoked or expired'],
    ['the end of no key', revokeKeyAction, 'no such key'],
    ['an event of nobody', grantEventAction, 'no such event'],
    ['an event that was not open', revokeEventAction, `event ${eventId} was not open to partner 999999`],
    ['a ticket of no event', createTicketAction, 'no such event'],
    ['no ticket', updateTicketAction, 'no such ticket'],
  ] as const)('%s is refused in words, and not noted', async ([, action, message]) => {
    const { name } = (await listPartners(given.db))[0]!;
    const input = {
      name,
      eventId,
      keyId,
      partnerId: action === grantEventAction ? given.gala.partnerId : 999_999,
      ticketId: 999_999,
      requestsPerSecond: null,
      weight: 1,
      overlapMs: 0,
      title: 'Standing',
      capacity: 1,
    };
    const error = await attempt(action, input).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Failure);
    expect((error as Error).message).toBe(message);
    expect(await noted()).toEqual([]);
  });

  test('a capacity below what is taken, and an end before the stored start, are refused in words', async () => {
    const ticketId = await given.gala.addTicket({ saleStartsAt: new Date(2) });
    await sql`update tickets set taken = 2 where id = ${ticketId}`.execute(given.db);
    await expect(attempt(updateTicketAction, { ticketId, capacity: 1 })).rejects.toThrow('taken already');
    await expect(attempt(updateTicketAction, { ticketId, saleEndsAt: new Date(1) })).rejects.toThrow(
      'the sale must start before it ends',
    );
    expect(await noted()).toEqual([]);
  });
});

describe('a change is noted', () => {
  const by = (action: string, subject: string, before: unknown, after: unknown) => ({
    actor: 'jane',
    action,
    subject,
    before,
    after,
  });

  test('of a partner', async () => {
    const { id } = await perform(given.db, createPartnerAction, { name: 'Gala Inc.' }, 'jane');
    const limit = { partnerId: id, requestsPerSecond: 5 };
    await perform(given.db, limitPartnerAction, limit, 'jane');
    await perform(given.db, weighPartnerAction, { partnerId: id, weight: 3 }, 'jane');
    expect(await noted()).toEqual([
      by('partner.create', `partner:${id}`, null, { name: 'Gala Inc.' }),
      by('partner.limit', `partner:${id}`, { requestsPerSecond: null }, { requestsPerSecond: 5 }),
      by('partner.weigh', `partner:${id}`, { weight: 1 }, { weight: 3 }),
    ]);
  });

  test('of a key, never with its secret', async () => {
    const { partnerId } = given.gala;
    const expiresAt = new Date(Date.now() + 60_000);
    const old = await perform(given.db, issueKeyAction, { partnerId, expiresAt }, 'jane');
    const heir = await perform(given.db, rotateKeyAction, { keyId: old.keyId, overlapMs: 1_000 }, 'jane');
    for (const _ of [1, 2]) await perform(given.db, revokeKeyAction, { keyId: old.keyId }, 'jane');
    const end = expiresAt.toISOString();
    expect(await noted()).toEqual([
      by('key.issue', `key:${old.keyId}`, null, { partnerId, mode: 'live', expiresAt: end }),
      by(
        'key.rotate',
        `key:${old.keyId}`,
        { expiresAt: end },
        { expiresAt: heir.previousKeyEndsAt.toISOString(), successor: heir.keyId },
      ),
      by('key.rotate', `key:${heir.keyId}`, null, { expiresAt: end, predecessor: old.keyId }),
      // Once: the second time it was so already.
      by('key.revoke', `key:${old.keyId}`, { revoked: false }, { revoked: true }),
    ]);
    const text = JSON.stringify(await noted());
    for (const { secretKey } of [old, heir]) expect(text).not.toContain(secretKey.slice(-43));
  });

  test('of an event', async () => {
    const input = { name: 'Ball', passPrefix: 'BALL', duplicatePolicy: 'reject' } as const;
    const { id: eventId, ref } = await perform(given.db, createEventAction, input, 'jane');
    const grant = { eventId, partnerId: given.gala.partnerId };
    for (const _ of [1, 2]) await perform(given.db, grantEventAction, grant, 'jane');
    await perform(given.db, revokeEventAction, grant, 'jane');
    const granted = { grantedTo: given.gala.partnerId };
    expect(await noted()).toEqual([
      by('event.create', `event:${eventId}`, null, { ...input, mode: 'live', ref }),
      by('event.grant', `event:${eventId}`, null, granted),
      by('event.revoke', `event:${eventId}`, granted, null),
    ]);
  });

  test('of a ticket, while partners are told of an operator', async () => {
    const { eventId } = given.gala;
    const input = { eventId, title: 'Seated', capacity: 5, price: 12.5 };
    const { id: ticketId } = await perform(given.db, createTicketAction, input, 'jane');
    await perform(given.db, updateTicketAction, { ticketId, capacity: 6, saleEndsAt: new Date(0) }, 'jane');
    const [created, updated] = await noted();
    const settings = {
      title: 'Seated',
      capacity: 5,
      price: 12.5,
      benefits: '',
      active: true,
      saleStartsAt: null,
      saleEndsAt: null,
      offerHours: null,
      waitingClosesAt: null,
    };
    expect(created).toEqual(by('ticket.create', `ticket:${ticketId}`, null, { eventId, ...settings }));
    const after = { ...settings, capacity: 6, saleEndsAt: '1970-01-01T00:00:00.000Z' };
    expect(updated).toEqual(by('ticket.update', `ticket:${ticketId}`, settings, after));
    const stored = (await listTickets(given.db, eventId)).find(({ id }) => id === ticketId);
    expect(stored?.lastModifiedBy).toBe('operator');
    await perform(given.db, updateTicketAction, { ticketId, active: false, lastModifiedBy: 'Ann' }, 'jane');
    const signed = (await listTickets(given.db, eventId)).find(({ id }) => id === ticketId);
    expect(signed?.lastModifiedBy).toBe('Ann');
  });
});

test('of two who change the same at once, the second notes what the first left', async () => {
  const { partnerId } = given.gala;
  const { keyId } = await perform(given.db, issueKeyAction, { partnerId }, 'jane');
  await sql`truncate audit_log`.execute(given.db);
  const first = await given.db.startTransaction().execute();
  await perform(first, limitPartnerAction, { partnerId, requestsPerSecond: 5 }, 'jane');
  await perform(first, revokeKeyAction, { keyId }, 'jane');
  const second = Promise.all([
    perform(given.db, limitPartnerAction, { partnerId, requestsPerSecond: null }, 'joe'),
    perform(given.db, revokeKeyAction, { keyId }, 'joe'),
  ]);
  await waitForLockWaiters(given.db, 2);
  await first.commit().execute();
  await second;
  expect(await noted()).toMatchObject([
    { actor: 'jane', action: 'partner.limit', after: { requestsPerSecond: 5 } },
    { actor: 'jane', action: 'key.revoke' },
    { actor: 'joe', action: 'partner.limit', before: { requestsPerSecond: 5 } },
  ]);
});

test('a redrive is noted for each of its batches', async () => {
  const { batchId } = await commitBatch(given.db, given.gala);
  const redrive = async (selection: { batchIds?: string[]; reason?: string } = {}) =>
    (await redriveShards(given.db, { ...selection, limit: 10 }, 'jane')).batchIds;
  expect(await redrive()).toEqual([]);
  await sql`update batches set state = 'failed', failure = 'REASON' where id = ${batchId}`.execute(given.db);
  expect(await redrive({ reason: 'another' })).toEqual([]);
  expect(await redrive({ batchIds: [batchId], reason: 'REASON' })).toEqual([batchId]);
  const [before, after] = [{ state: 'failed' }, { state: 'pending' }];
  expect(await noted()).toMatchObject([
    { action: 'batch.redrive', subject: `batch:${batchId}`, before, after },
  ]);
  await expect(redrive({ batchIds: [batchId] })).rejects.toThrow('no failed batch has this id');
  await expect(attempt(redriveAction, { batchIds: ['x'], shardId: 0, limit: 0 })).rejects.toThrow(
    'batchIds: UUIDs; limit: a whole number from 1 to 100000',
  );
});

test('two events may share a prefix, and the second is told so', async () => {
  const input = { name: 'Twin', passPrefix: 'TWIN', duplicatePolicy: 'allow' } as const;
  expect(await perform(given.db, createEventAction, input, 'jane')).toMatchObject({ prefixIsShared: false });
  expect(await perform(given.db, createEventAction, input, 'jane')).toMatchObject({ prefixIsShared: true });
});

test('what cannot be noted is not done', async () => {
  await sql`alter table audit_log add constraint no_room check (actor <> 'jane') not valid`.execute(given.db);
  const event = { name: 'Unnoted', passPrefix: 'NO', duplicatePolicy: 'allow' };
  await expect(attempt(createEventAction, event)).rejects.toMatchObject({ constraint: 'no_room' });
  await sql`alter table audit_log drop constraint no_room`.execute(given.db);
  expect((await listEvents(given.db)).filter(({ name }) => name === 'Unnoted')).toEqual([]);
});

test('what is not done after all is not noted', async () => {
  await sql`
    create function refuse_commit() returns trigger language plpgsql as
      $$ begin raise exception 'not now'; end $$`.execute(given.db);
  await sql`
    create constraint trigger refuse_commit after insert on events deferrable initially deferred
    for each row execute function refuse_commit()`.execute(given.db);
  const event = { name: 'Undone', passPrefix: 'NO', duplicatePolicy: 'allow' };
  await expect(attempt(createEventAction, event)).rejects.toThrow('not now');
  await sql`drop trigger refuse_commit on events`.execute(given.db);
  expect(await noted()).toEqual([]);
});

test("in a caller's transaction, both are rolled back with it", async () => {
  const before = await listKeys(given.db, given.gala.partnerId);
  const rolledBack = given.db.transaction().execute(async (transaction) => {
    const { keyId } = await perform(transaction, issueKeyAction, { partnerId: given.gala.partnerId }, 'jane');
    await perform(transaction, rotateKeyAction, { keyId, overlapMs: 0 }, 'jane');
    throw new Error('changed my mind');
  });
  await expect(rolledBack).rejects.toThrow('changed my mind');
  expect(await listKeys(given.db, given.gala.partnerId)).toEqual(before);
  expect(await noted()).toEqual([]);
});
