import { randomUUID } from 'node:crypto';
import { perform } from '@floodgate/audit';
import { reserveBatch, type Reservation } from '@floodgate/registrations';
import {
  cancelRegistrationAction,
  correctRegistrationAction,
  replaceAttendeeAction,
} from '@floodgate/registrations/actions';
import { findAttendees, indexAttendees, type AttendeeQuery } from '@floodgate/registrations/find';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { reservationOf } from '../harness/reservation.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';

const { test, given } = eventTest({ own: 'finds attendees of all events in the database' });

test.override('ticket', { capacity: 5_000 });

type Attendee = Partial<Reservation>;

/** Sells a seat to each of them, and indexes none. */
async function sell(
  people: readonly Attendee[],
  fixture: Fixture = given.gala,
  ticket = given.ticketId,
): Promise<void> {
  const reservations = people.map((person) => reservationOf(fixture, ticket, person));
  await reserveBatch(given.db, randomUUID(), reservations);
  await finalizePending(given.db, fixture.shardId);
}

const named = (...names: string[]): Attendee[] => names.map((fullName) => ({ fullName }));

/** Returns the pass references of the event, in the order of the sale. */
async function passes(): Promise<string[]> {
  const { shardId, eventId } = given.gala;
  const rows = await tablesOf(given.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code'])
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .orderBy('serial')
    .execute();
  return rows.map(({ serial, pass_code: code }) => `GALA-${eventId}-${serial}-${code}`);
}

async function indexAll(shardId = given.gala.shardId, most = 100): Promise<void> {
  const scan = tablesOf(given.db)
    .selectFrom('attendee_scans')
    .select('last_offset')
    .where('shard_id', '=', shardId);
  const head = tablesOf(given.db)
    .selectFrom('journal_heads')
    .select('last_offset')
    .where('shard_id', '=', shardId);
  const { last_offset: end } = await head.executeTakeFirstOrThrow();
  do await indexAttendees(given.db, shardId, most);
  while ((await scan.executeTakeFirstOrThrow()).last_offset < end);
}

/** Returns the names that are found in the event, the newest first. */
const find = async (text: string | undefined, query: AttendeeQuery = {}, limit = 100) => {
  const asked = { eventId: given.gala.eventId, ...query, ...(text !== undefined && { text }) };
  const { attendees } = await findAttendees(given.db, asked, limit);
  return attendees.map(({ fullName }) => fullName);
};

test('signs separate words and stand for nothing else', async () => {
  await sell([
    { fullName: 'Percy 100% \\ <b>Bold</b>', emailAddress: 'a_b@example.com' },
    { fullName: "Bobby'); drop table", emailAddress: 'b@example.com' },
  ]);
  await indexAll();
  expect(await find('100%')).toEqual(['Percy 100% \\ <b>Bold</b>']);
  expect(await find('<b>bold')).toEqual(['Percy 100% \\ <b>Bold</b>']);
  for (const text of ['p%y', 'p_rcy', 'per\\', "x' | 'percy", 'percy:* | !bobby', "~9' | '~percy"])
    expect([text, await find(text)]).toEqual([text, text === 'per\\' ? ['Percy 100% \\ <b>Bold</b>'] : []]);
  expect(await find("bobby');")).toEqual(["Bobby'); drop table"]);
  for (const text of ['%', '_', '\\', "'", '~ *', '🎟'])
    await expect(find(text)).rejects.toThrow('with a letter or a digit');
});

test('several words must all match, whether they are rare or common', async () => {
  await sell([...named('Ada Rare'), ...Array.from({ length: 1_200 }, (_, n) => named(`Ada Common${n}`)[0]!)]);
  await indexAll(given.gala.shardId, 500);
  expect(await find('ada rare')).toEqual(['Ada Rare']);
  expect(await find('common ada example jane', {}, 3)).toEqual([
    'Ada Common1199',
    'Ada Common1198',
    'Ada Common1197',
  ]);
  const all = await findAttendees(given.db, { eventId: given.gala.eventId, text: 'ada' }, 1);
  expect(all).toMatchObject({ total: 1_000, moreThanTotal: true });
  const rare = await findAttendees(given.db, { eventId: given.gala.eventId, text: 'ada rare' }, 1);
  expect(rare).toMatchObject({ total: 1, moreThanTotal: false, cursor: null, previous: null });
});

test('of all events, or of one', async () => {
  const other = await createFixture(given.db);
  await sell(named('Zoë Shared Other'), other, await other.addTicket());
  await sell(named('Zoë Shared Gala'));
  await indexAll(other.shardId);
  await indexAll();
  expect(await find('zoë shared')).toEqual(['Zoë Shared Gala']);
  const everywhere = await findAttendees(given.db, { text: 'zoë shared' }, 10);
  expect(everywhere.attendees.map(({ fullName }) => fullName).toSorted()).toEqual([
    'Zoë Shared Gala',
    'Zoë Shared Other',
  ]);
  expect(everywhere.total).toBe(2);
});

test.for(['guest', undefined])('%s: each one is on one page, forwards and backwards', async (text) => {
  const names = Array.from({ length: 25 }, (_, index) => `Guest ${index}`);
  await sell(named(...names));
  await indexAll(given.gala.shardId, 7);
  const asked = { eventId: given.gala.eventId, ...(text !== undefined && { text }) };
  const read = async (position: AttendeeQuery) => {
    const page = await findAttendees(given.db, { ...asked, ...position }, 10);
    return { ...page, names: page.attendees.map(({ fullName }) => fullName) };
  };
  const newest = names.toReversed();
  const first = await read({});
  const second = await read({ after: first.cursor! });
  const third = await read({ after: second.cursor! });
  expect(first).toMatchObject({ names: newest.slice(0, 10), total: 25, more: true, previous: null });
  expect(second.names).toEqual(newest.slice(10, 20));
  expect(third).toMatchObject({ names: newest.slice(20), total: 25, more: false, cursor: null });
  const back = await read({ before: third.previous! });
  expect(back).toMatchObject({ names: second.names, cursor: second.cursor });
  const start = await read({ before: back.previous! });
  expect(start).toMatchObject({ names: first.names, cursor: first.cursor, previous: null });
  await expect(read({ after: 1, before: 1 })).rejects.toThrow('not with after');
});

test('a search needs a text or an event', async () => {
  await expect(findAttendees(given.db, {}, 10)).rejects.toThrow('a text, or an event');
});

test('one that was cancelled before the confirmation is found, and marked', async () => {
  await reserveBatch(given.db, randomUUID(), [
    reservationOf(given.gala, given.ticketId, { fullName: 'Cancelled Early' }),
  ]);
  const [passReference] = await passes();
  await perform(given.db, cancelRegistrationAction, { passReference: passReference! }, 'test');
  await finalizePending(given.db, given.gala.shardId);
  await indexAll();
  const found = await findAttendees(given.db, { text: 'cancelled early' }, 10);
  expect(found.attendees).toMatchObject([{ state: 'cancelled', kind: 'registration', passReference }]);
});

test('filters leave those of a ticket, a partner or a state', async () => {
  const seated = await given.gala.addTicket();
  await sell(named('Ada Lovelace', 'Grace Hopper'));
  await sell(named('Ada Yonath', 'Édith Piaf'), given.gala, seated);
  await indexAll();
  const [, grace] = await passes();
  await perform(given.db, cancelRegistrationAction, { passReference: grace! }, 'test');
  expect(await find(undefined, { ticketId: seated })).toEqual(['Édith Piaf', 'Ada Yonath']);
  expect(await find(undefined, { state: 'cancelled' })).toEqual(['Grace Hopper']);
  const { partnerId } = given.gala;
  expect(await find('ada', { partnerId, state: 'confirmed' })).toEqual(['Ada Yonath', 'Ada Lovelace']);
  expect(await find(undefined, { partnerId: partnerId + 1 })).toEqual([]);
  const asked = { eventId: given.gala.eventId, text: 'ada', ticketId: seated };
  expect(await findAttendees(given.db, asked, 10)).toMatchObject({ total: 1, more: false });
});

test('a filter reads on behind a page that it leaves short', async () => {
  const seated = await given.gala.addTicket();
  await sell(named('Ada Seated'), given.gala, seated);
  await sell(Array.from({ length: 1_000 }, () => ({ fullName: 'Ada Standing' })));
  await indexAll(given.gala.shardId, 1_000);
  const asked = { eventId: given.gala.eventId, text: 'ada', ticketId: seated };
  const first = await findAttendees(given.db, asked, 10);
  expect(first).toMatchObject({ attendees: [], more: true, moreThanTotal: true });
  const next = await findAttendees(given.db, { ...asked, after: first.cursor! }, 10);
  expect(next).toMatchObject({ attendees: [{ fullName: 'Ada Seated' }], more: false });
});

test.for([
  ['in lower case', (reference: string) => reference.toLowerCase()],
  ['without its code', (reference: string) => reference.replace(/-\d+$/, '')],
  ['masked', (reference: string) => reference.replace(/\d+$/, '…')],
] as const)('a pass reference is found at once %s', async ([, typed]) => {
  await sell(named('Ada Lovelace'));
  const [passReference] = await passes();
  const found = await findAttendees(given.db, { text: typed(passReference!) }, 10);
  expect(found).toMatchObject({ total: 1, attendees: [{ passReference, fullName: 'Ada Lovelace' }] });
  const none = await findAttendees(given.db, { text: `${passReference!.slice(0, -1)}X` }, 10);
  expect(none.attendees).toEqual([]);
});

test('a seat that is held for a person, and an entry of a waiting list, are found and say what they are', async () => {
  await sell([{ fullName: 'Helga Held', holdSeconds: 600 }]);
  const organizedEventTicketID = await given.gala.addTicket({ capacity: 1, offerHours: 1 });
  await sell(named('Full House'), given.gala, organizedEventTicketID);
  const contact = { fullName: 'Wanda Waits', emailAddress: 'wanda@example.com' };
  const entry = { organizedEventTicketID, contact, partnerReference: 'wait-77' };
  await joinWaitingList(given.db, given.gala, entry, null, 10_000);
  await finalizePending(given.db, given.gala.shardId);
  const found = async (text: string) => (await findAttendees(given.db, { text }, 10)).attendees;
  // Not while it takes the sales of an earlier test for a launch.
  await waitUntil('the held seat is known', async () => {
    await indexAll();
    return (await found('helga')).length > 0;
  });
  expect(await found('helga')).toMatchObject([{ kind: 'hold', state: 'held', fullName: 'Helga Held' }]);
  for (const text of ['wanda', 'wait-77'])
    expect(await found(text)).toMatchObject([
      { kind: 'waiting', state: 'waiting', passReference: null, entry: expect.any(String) as string },
    ]);
  expect(await find(undefined, { state: 'waiting' })).toEqual(['Wanda Waits']);
});

test('a correction is found at once, whether the name was indexed or not, and the old name is not', async () => {
  await sell(named('Ada Lovelace', 'Grace Hopper'));
  await indexAll();
  await sell(named('Ada Yonath'));
  const [first, , third] = await passes();
  for (const [index, passReference] of [first!, third!].entries())
    await perform(given.db, correctRegistrationAction, { passReference, fullName: `Right ${index}` }, 'test');
  await indexAll();
  expect(await find('right')).toEqual(['Right 1', 'Right 0']);
  expect(await find('ada')).toEqual([]);
});

test('a correction waits for a process that has read the old name', async () => {
  await sell(named('Ada Lovelace'));
  const [passReference] = await passes();
  const indexing = await given.db.startTransaction().execute();
  await indexAttendees(indexing, given.gala.shardId, 1_000);
  const change = { passReference: passReference!, fullName: 'Ada Right' };
  const corrected = perform(given.db, correctRegistrationAction, change, 'test');
  await waitForLockWaiters(given.db, 1);
  await indexing.commit().execute();
  await corrected;
  expect(await find('ada right')).toEqual(['Ada Right']);
});

test('after a replacement the new attendee is found, and the old one only by the old pass', async () => {
  await sell(named('Olga Old'));
  await indexAll();
  const [passReference] = await passes();
  const person = { fullName: 'Nina New', emailAddress: 'nina@example.com' };
  await perform(given.db, replaceAttendeeAction, { passReference: passReference!, ...person }, 'test');
  expect(await find('olga')).toEqual([]);
  await finalizePending(given.db, given.gala.shardId);
  await indexAll();
  expect(await find('nina')).toEqual(['Nina New']);
  expect(await find(undefined)).toEqual(['Nina New']);
  const old = await findAttendees(given.db, { text: passReference! }, 10);
  expect(old.attendees).toMatchObject([{ state: 'cancelled', fullName: 'Olga Old' }]);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from search_entries where shard_id = ${given.gala.shardId}
      and serial in (select serial from registrations where shard_id = ${given.gala.shardId} and replaced_by > 0)`.execute(
    given.db,
  );
  expect(rows[0]!.count).toBe(0);
});

test('processes that index at the same time miss nobody and index nobody twice', async () => {
  await sell(named(...Array.from({ length: 200 }, (_, index) => `Guest ${index}`)));
  for (let rounds = 0; rounds < 30; rounds++)
    await Promise.all([1, 2, 3].map(() => indexAttendees(given.db, given.gala.shardId, 5)));
  await indexAll();
  expect(await find(undefined, {}, 1_000)).toHaveLength(200);
});

test('the index waits during a launch, until entries are five seconds old', async () => {
  await indexAll();
  const { shardId } = given.gala;
  await sell(named(...Array.from({ length: 20 }, (_, index) => `Early ${index}`)));
  const sixSecondsAgo = new Date(Date.now() - 6_000);
  await sql`update journal_segments set at = ${sixSecondsAgo} where shard_id = ${shardId}`.execute(given.db);
  await sell(named(...Array.from({ length: 20 }, (_, index) => `Late ${index}`)));
  expect(await indexAttendees(given.db, shardId, 10)).toBe(true);
  expect(await indexAttendees(given.db, shardId, 10)).toBe(false);
  expect(await find('early')).toHaveLength(20);
  expect(await find('late')).toEqual([]);
  await indexAll();
  expect(await find('late')).toHaveLength(20);
});

test('what was sold before the search had its table is added from the newest one, and a search says so', async () => {
  const { shardId, eventId } = given.gala;
  await sell(named(...Array.from({ length: 30 }, (_, index) => `Guest ${index}`)));
  await indexAll(shardId, 1_000);
  await sql`delete from search_entries where shard_id = ${shardId}`.execute(given.db);
  await sql`
    update attendee_scans set refill_below = 9223372036854775807 where shard_id = ${shardId}`.execute(
    given.db,
  );
  const twoSecondsAgo = new Date(Date.now() - 2_000);
  await sql`update journal_segments set at = ${twoSecondsAgo} where shard_id = ${shardId}`.execute(given.db);
  // Five times as many as of the journal.
  await indexAttendees(given.db, shardId, 2);
  const some = await findAttendees(given.db, { eventId }, 100);
  expect(some.attendees.map(({ fullName }) => fullName)).toEqual(
    Array.from({ length: 10 }, (_, index) => `Guest ${29 - index}`),
  );
  expect(some.incomplete).toBe(true);
  const scan = tablesOf(given.db)
    .selectFrom('attendee_scans')
    .select('refill_below')
    .where('shard_id', '=', shardId);
  do await indexAttendees(given.db, shardId, 100);
  while ((await scan.executeTakeFirstOrThrow()).refill_below > 0);
  const all = await findAttendees(given.db, { eventId }, 100);
  expect(all.attendees).toHaveLength(30);
  expect(all.incomplete).toBe(false);
});
