import { randomUUID } from 'node:crypto';
import { grantEvent } from '@floodgate/events';
import { expireHolds, reconcile } from '@floodgate/registrations';
import { findEntry, joinWaitingLists, serveWaitingLists, toJoin } from '@floodgate/waiting-list';
import type { Hold, WaitingEntry } from '@floodgate/contract';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { attendee, type Answer } from '../harness/partner-client.ts';
import { endHolds } from '../harness/reservation.ts';
import { joinWaitingList } from '../harness/waiting-list.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

const SHARE = 100;
const SEATS = 9;

test.override('ticket', { capacity: SEATS });
// Most tests have one partner. The share of each is a subject of shares.test.ts.
test.override('apiSettings', { HOLD_SHARE_PERCENT: String(SHARE) });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
let sold: string[];

const setTicket = (change: string) =>
  sql`update tickets set ${sql.raw(change)} where id = ${given.ticketId}`.execute(given.database.db);

const entryIn = ({ body }: Answer) => {
  expect(body.responseCode, body.responseMessage).toBe('00');
  return body.responseData as WaitingEntry;
};
const ask = (seats = 1, more: object = {}, headers: Record<string, string> = {}) =>
  given.partner.post(
    '/waiting-list',
    { organizedEventTicketID: given.ticketId, seats, contact: CONTACT, ...more },
    headers,
  );
const join = async (...args: Parameters<typeof ask>) => entryIn(await ask(...args));
const read = async ({ entry }: WaitingEntry) =>
  entryIn(await given.partner.request(`/api/v1/events/waiting-list/${entry}`));
const leave = ({ entry }: WaitingEntry, client = given.partner) =>
  client.post(`/waiting-list/${entry}/leave`, {});
const confirm = ({ entry }: WaitingEntry) =>
  given.partner.post(`/holds/${entry}/confirm`, { contact: CONTACT });
const cancel = (passReference: string) => given.partner.post(`/registrations/${passReference}/cancel`, {});
const register = () => given.partner.register(attendee(given.ticketId));
const finalize = () => finalizePending(given.database.db, given.gala.shardId);
const serve = () => serveWaitingLists(given.database.db, given.gala.shardId, 1_000, SHARE);
const told = async () =>
  (await journalOf(given.database.db, given.gala))
    .map(({ kind }) => kind as string)
    .filter((kind) => kind.startsWith('waiting'));
const states = (entries: WaitingEntry[]) =>
  Promise.all(entries.map(async (entry) => (await read(entry)).state));

beforeEach(async () => {
  await setTicket('offer_hours = 24');
  sold = [];
  for (let seats = 0; seats < SEATS; seats += 1) sold.push((await register()).body.responseData as string);
});

test('a freed seat is held for the first who waits; nobody else can take it', async () => {
  const [first, second] = [await join(1, { partnerReference: 'order-1' }), await join()];
  expect(first).toMatchObject({
    state: 'waiting',
    position: 1,
    skipped: 0,
    partnerReference: 'order-1',
    dateExpires: null,
  });
  expect(second).toMatchObject({ position: 2 });
  const earliest = Date.now() + 86_400_000;
  await cancel(sold[0]!);
  const latest = Date.now() + 86_400_000;
  expect(await read(first)).toMatchObject({ state: 'offered', position: null });
  expect(await read(second)).toMatchObject({ state: 'waiting', position: 1 });
  expectFailure(await register(), '32', 409);
  const expires = Date.parse((await read(first)).dateExpires!);
  expect([expires >= earliest, expires <= latest]).toEqual([true, true]);
  expect((await confirm(first)).body).toMatchObject({
    responseCode: '00',
    responseData: { state: 'confirmed', partnerReference: 'order-1' },
  });
  expect(await read(first)).toMatchObject({ state: 'confirmed', dateExpires: null });
  await finalize();
  expect(await told()).toEqual(['waiting.joined', 'waiting.joined', 'waiting.offered', 'waiting.confirmed']);
});

test('an offer that expires goes to the next in the same transaction', async () => {
  const entries = [await join(), await join(), await join()];
  await cancel(sold[0]!);
  await endHolds(given.database.db, given.gala);
  expect(await expireHolds(given.database.db, given.gala.shardId, 100, SHARE)).toBe(1);
  expect(await states(entries)).toEqual(['expired', 'offered', 'waiting']);
  expectFailure(await confirm(entries[0]!), '35', 409);
  expectFailure(await leave(entries[0]!), '35', 409);
  await finalize();
  expect(await told()).toEqual([
    'waiting.joined',
    'waiting.joined',
    'waiting.joined',
    'waiting.offered',
    'waiting.offered',
    'waiting.expired',
  ]);
});

test('an offer whose seats are all cancelled has expired', async () => {
  const pair = await join(2);
  for (const passReference of sold.slice(0, 2)) await cancel(passReference);
  const one = await join();
  const { body } = await given.partner.request(`/api/v1/events/holds/${pair.entry}`);
  const [first, second] = (body.responseData as Hold).seats.map(({ passReference }) => passReference);
  await cancel(first!);
  expect(await states([pair, one])).toEqual(['offered', 'offered']);
  await cancel(second!);
  expect(await states([pair, one])).toEqual(['expired', 'offered']);
  await finalize();
  expect((await told()).slice(3)).toEqual(['waiting.offered', 'waiting.expired']);
});

test('an entry that needs more seats keeps its place; a smaller one is served first', async () => {
  const [pair, one, another] = [await join(2), await join(), await join()];
  await cancel(sold[0]!);
  expect(await states([pair, one, another])).toEqual(['waiting', 'offered', 'waiting']);
  expect(await read(pair)).toMatchObject({ position: 1, skipped: 1 });
  entryIn(await leave(one));
  expect(await states([pair, one, another])).toEqual(['waiting', 'left', 'offered']);
  expect(await read(pair)).toMatchObject({ position: 1, skipped: 2 });
  entryIn(await leave(another));
  // One seat is free, and it is kept for those who wait.
  expectFailure(await register(), '32', 409);
  await cancel(sold[1]!);
  expect(await states([pair])).toEqual(['offered']);
});

test('an entry that fits the free seats is served when it joins', async () => {
  const pair = await join(2);
  await cancel(sold[0]!);
  expect(await states([pair, await join()])).toEqual(['waiting', 'offered']);
});

test('those who wait get the seats of a raised capacity, and then everybody', async () => {
  const entries = [];
  for (let count = 0; count < 4; count += 1) entries.push(await join(2));
  await finalize();
  await setTicket(`capacity = ${SEATS + 5}`);
  expectFailure(await register(), '32', 409);
  expect(await serve()).toBe(2);
  expect(await states(entries)).toEqual(['offered', 'offered', 'waiting', 'waiting']);
  expect(await serve()).toBe(0);
  await setTicket(`capacity = ${SEATS + 20}`);
  expect(await serve()).toBe(2);
  expect((await register()).body.responseCode).toBe('00');
  await finalize();
  const ofTicket = (await journalOf(given.database.db, given.gala))
    .filter(({ serial }) => serial === null)
    .map(({ kind }) => kind);
  expect(ofTicket).toEqual(['sold_out', 'reopened']);
});

test('a ticket that is off sale offers its free seats when it is on sale again', async () => {
  const entry = await join();
  await setTicket('active = false');
  await cancel(sold[0]!);
  expect(await serve()).toBe(0);
  expect(await states([entry])).toEqual(['waiting']);
  await setTicket('active = true');
  expect(await serve()).toBe(1);
  expect(await states([entry])).toEqual(['offered']);
});

test('a list that is closed ends, and its seats are sold to everybody', async () => {
  const pair = await join(2);
  await cancel(sold[0]!);
  await setTicket('offer_hours = null');
  expect(await serve()).toBe(1);
  expect(await states([pair])).toEqual(['expired']);
  expect((await register()).body.responseCode).toBe('00');
  expectFailure(await ask(), '39', 409);
  await setTicket(`offer_hours = 1, waiting_closes_at = now() - interval '1 second'`);
  expectFailure(await ask(), '39', 409);
});

test('an entry that needs more seats than the ticket has by now expires, and others get the seats', async () => {
  const [large, one] = [await join(SEATS - 1), await join()];
  await cancel(sold[0]!);
  entryIn(await leave(one));
  await cancel(sold[1]!);
  await setTicket(`capacity = ${SEATS - 2}`);
  await cancel(sold[2]!);
  expectFailure(await register(), '32', 409);
  expect(await serve()).toBe(1);
  expect(await states([large])).toEqual(['expired']);
  expect((await register()).body.responseCode).toBe('00');
});

test('who leaves is not served, and the last who leaves frees the seats', async () => {
  const [pair, one] = [await join(2), await join()];
  entryIn(await leave(one));
  expect(entryIn(await leave(one)).state).toBe('left');
  await cancel(sold[0]!);
  expectFailure(await register(), '32', 409);
  entryIn(await leave(pair));
  expect((await register()).body.responseCode).toBe('00');
  await finalize();
  expect(await told()).toEqual(['waiting.joined', 'waiting.joined']);
});

test('an offer can be declined as a hold, too, and in parts', async () => {
  const pair = await join(2);
  for (const passReference of sold.slice(0, 2)) await cancel(passReference);
  const one = await join();
  const { responseData } = (await given.partner.request(`/api/v1/events/holds/${pair.entry}`)).body;
  const [seat] = (responseData as { seats: { passReference: string }[] }).seats;
  await given.partner.post(`/holds/${pair.entry}/release`, { passReferences: [seat!.passReference] });
  expect(await states([pair, one])).toEqual(['offered', 'offered']);
  expect((await confirm(pair)).body.responseCode).toBe('00');
  expect(await states([pair])).toEqual(['confirmed']);
});

test('an entry of a partner without access expires, and the next gets the offer', async () => {
  const other = await createFixture(given.database.db);
  await grantEvent(given.database.db, other.partnerId, given.gala.eventId);
  const stranger = { ...given.gala, partnerId: other.partnerId };
  const wanted = { organizedEventTicketID: given.ticketId, contact: CONTACT };
  const joined = await joinWaitingList(given.database.db, stranger, wanted, null, 1_000);
  const entry = await join();
  await sql`delete from event_grants where partner_id = ${other.partnerId}`.execute(given.database.db);
  await cancel(sold[0]!);
  const { id } = joined as { id: string };
  expect((await findEntry(given.database.db, stranger, id))?.state).toBe('expired');
  expect(await states([entry])).toEqual(['offered']);
});

test('a group joins in its order; each call gets its own outcome and place', async () => {
  const other = await given.gala.addTicket({ capacity: 1 });
  const calls = [
    { seats: 1, key: 'a' },
    { seats: SEATS + 1 },
    { organizedEventTicketID: other },
    { organizedEventTicketID: 2_147_483_647 },
    { seats: 2, key: 'a' },
    { seats: 1, key: 'a' },
    { seats: 1 },
  ].map(
    ({ key = null, ...request }: { key?: string | null; seats?: number; organizedEventTicketID?: number }) =>
      toJoin(given.gala, { organizedEventTicketID: given.ticketId, contact: CONTACT, ...request }, key),
  );
  const first = calls[0]!.id;
  const joinAll = async () =>
    (await joinWaitingLists(given.database.db, given.gala.shardId, calls, 1_000)).map(
      ({ outcome, id, place }) => (outcome === 'joined' ? [id, place] : outcome),
    );
  const refused = ['too-many', 'no-list', 'no-such-ticket', 'key-reused'];
  expect(await joinAll()).toEqual([[first, 1], ...refused, [first, null], [calls[6]!.id, 2]]);
  // The connection was lost, and the group is committed again.
  expect(await joinAll()).toEqual([[first, null], ...refused, [first, null], [calls[6]!.id, null]]);
  await finalize();
  expect(await told()).toEqual(['waiting.joined', 'waiting.joined']);
});

test('an entry that a group gets an offer for has no place', async () => {
  await join(2);
  await cancel(sold[0]!);
  const calls = [2, 1, 1].map((seats) =>
    toJoin(given.gala, { organizedEventTicketID: given.ticketId, contact: CONTACT, seats }, null),
  );
  const joined = await joinWaitingLists(given.database.db, given.gala.shardId, calls, 1_000);
  expect(joined.map(({ place }) => place)).toEqual([null, null, null]);
  const found = await Promise.all(calls.map(({ id }) => findEntry(given.database.db, given.gala, id)));
  expect(found.map((entry) => entry!.state)).toEqual(['waiting', 'offered', 'waiting']);
  expect(found.map((entry) => entry!.position)).toEqual([2, null, 3]);
});

test('an offer cannot be extended', async () => {
  const entry = await join();
  await cancel(sold[0]!);
  // Most of it is over.
  const { rows } = await sql<{ end: Date }>`select now() + interval '10 minutes' as end`.execute(
    given.database.db,
  );
  for (const [table, end, id] of [
    ['registrations', 'held_until', 'hold_id'],
    ['waiting_entries', 'expires_at', 'id'],
  ])
    await sql`
      update ${sql.table(table!)} set ${sql.ref(end!)} = ${rows[0]!.end}
      where ${sql.ref(id!)} = ${entry.entry}`.execute(given.database.db);
  const { dateExpires } = await read(entry);
  const { body } = await given.partner.post(`/holds/${entry.entry}/extend`, {}, { 'hold-for': '1800' });
  expect(body).toMatchObject({ responseCode: '00', responseData: { state: 'held' } });
  const held = body.responseData as { dateExpires: string };
  expect(held.dateExpires).toBe(dateExpires);
});

test('a repeated call with the key makes one entry', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const first = await join(1, {}, key);
  expect(await join(1, {}, key)).toEqual(first);
  expectFailure(await ask(2, {}, key), '40', 422);
});

test('nobody joins a ticket that is not sold out, not on sale, too small or unknown', async () => {
  expectFailure(await ask(SEATS + 1), '11', 422);
  expectFailure(await ask(11), '11', 422);
  expectFailure(await ask(1, { contact: { fullName: 'Jane' } }), '11', 422);
  expectFailure(await ask(1, { organizedEventTicketID: 999_999 }), '30', 404);
  await cancel(sold[0]!);
  expectFailure(await ask(), '38', 409);
  await setTicket('active = false');
  expectFailure(await ask(), '31', 409);
});

test('reconcile finds a wrong count, and an entry that waited while a later one got an offer', async () => {
  const [pair, one] = [await join(2), await join(1)];
  const setEntry = (change: string, { entry }: WaitingEntry) =>
    sql`update waiting_entries set ${sql.raw(change)} where id = ${entry}`.execute(given.database.db);
  const setPartner = (change: string) =>
    sql`update waiting_partners set ${sql.raw(change)} where ticket_id = ${given.ticketId}`.execute(given.db);
  await setTicket('waiting = 1');
  const problems = async () => (await reconcile(given.database.db)).map(({ problem }) => problem);
  expect(await problems()).toEqual(['waiting is 1, but 2 entries wait']);
  await setTicket('waiting = 2');
  // The later one needs fewer seats.
  await setEntry('offered_at = now()', one);
  expect(await problems()).toEqual([]);
  await setEntry('seats = 2', one);
  expect(await problems()).toEqual([
    expect.stringMatching(/^waits for 4 seats of ticket \d+, but 3 are counted$/),
    expect.stringMatching(/^waited while a later entry got an offer: /),
  ]);
  await setPartner('seats = 4');
  expect(await problems()).toEqual([expect.stringMatching(/^waited while a later entry got an offer: /)]);
  await setEntry(`offered_at = now() - interval '1 minute'`, pair);
  expect(await problems()).toEqual([]);
});

describe('under a test event', () => {
  beforeEach(async () => {
    await given.useEvent({ mode: 'test' });
    await given.useTicket({ capacity: 2, offerHours: 1 });
    for (let seats = 0; seats < 2; seats += 1) await register();
  });

  test('a reset takes all entries off the list, and forgets their keys', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const [first, second] = [await join(1, {}, key), await join()];
    expect((await given.partner.reset()).body.responseData).toEqual({ cancelled: 2, more: false });
    expect(await states([first, second])).toEqual(['left', 'left']);
    for (let seats = 0; seats < 2; seats += 1) await register();
    expect((await join(1, {}, key)).entry).not.toBe(first.entry);
  });

  test.for(['31', '37', '38', '39', '40', '91'] as const)('an address provokes %s', async (code) => {
    const contact = { ...CONTACT, emailAddress: `code-${code}@floodgate.invalid` };
    const key = { 'idempotency-key': randomUUID() };
    expectFailure(await ask(1, { contact }, key), code);
    const { rows } = await sql<{
      waiting: number;
    }>`select waiting from tickets where id = ${given.ticketId}`.execute(given.database.db);
    expect(rows).toEqual([{ waiting: code === '91' ? 1 : 0 }]);
    if (code === '91') expect((await ask(1, { contact }, key)).body.responseCode).toBe('00');
  });
});
