import { randomUUID } from 'node:crypto';
import { grantEvent } from '@floodgate/events';
import { changeRegistrations, expireHolds, reconcile, reserveBatch } from '@floodgate/registrations';
import {
  findEntries,
  findEntry,
  joinWaitingLists,
  listEntries,
  PLACES,
  serveWaitingLists,
  toJoin,
} from '@floodgate/waiting-list';
import type { Hold, WaitingEntry } from '@floodgate/contract';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { PartnerClient } from '../harness/partner-client.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { rowsRead } from '../harness/rows-read.ts';

const { test, given } = apiTest({ own: 'ends the holds of the whole shard' });

// A fifth of the ticket: the default of HOLD_SHARE_PERCENT.
const CAPACITY = 100;
const SHARE = 20;
const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };

type Owner = Pick<Fixture, 'shardId' | 'eventId' | 'partnerId'>;
interface Sold {
  serial: number;
  passCode: number;
}

test.override('ticket', { capacity: CAPACITY, offerHours: 24 });

/** Returns another partner of the event. */
async function addPartner() {
  const other = await createFixture(given.db);
  await grantEvent(given.db, other.partnerId, given.gala.eventId);
  const client = new PartnerClient(given.api.baseUrl, { ...other, eventRef: given.gala.eventRef });
  return { ...given.gala, partnerId: other.partnerId, client };
}

/** Sells all seats of the ticket. */
async function sellOut(capacity = CAPACITY) {
  const seats = Array.from({ length: capacity }, () => reservationOf(given.gala, given.ticketId));
  return (await reserveBatch(given.db, randomUUID(), seats)) as unknown as Sold[];
}

const cancel = (seats: Sold[], share: number | null = SHARE) =>
  changeRegistrations(
    given.db,
    given.gala.shardId,
    'cancelled',
    seats.map((seat) => ({ ...given.gala, ...seat })),
    { holdSharePercent: share },
  );

/** Joins with this many entries. Returns their ids. */
async function join(owner: Owner, count: number, seats = 1) {
  const request = { organizedEventTicketID: given.ticketId, seats, contact: CONTACT };
  const joins = Array.from({ length: count }, () => toJoin(owner, request, null));
  const joined = await joinWaitingLists(given.db, owner.shardId, joins, 10_000);
  expect(new Set(joined.map(({ outcome }) => outcome))).toEqual(new Set(['joined']));
  return joined.map(({ id }) => id);
}

/** Lets partners wait for more seats than the ticket has. */
async function withLongList(work: () => Promise<void>) {
  const setSeats = (seats: number) =>
    sql`update tickets set capacity = ${seats}, taken = ${seats} where id = ${given.ticketId}`.execute(
      given.db,
    );
  await setSeats(10_000);
  await work();
  await setSeats(CAPACITY);
}

const serve = () => serveWaitingLists(given.db, given.gala.shardId, 1_000);
const statesOf = async (owner: Owner, entries: string[]) =>
  (
    await findEntries(
      given.db,
      entries.map((entry) => ({ ...owner, entry })),
    )
  ).map((found) => found!.state);
const offeredOf = async (owner: Owner, entries: string[]) =>
  (await statesOf(owner, entries)).filter((state) => state === 'offered').length;
const problems = async () =>
  (await reconcile(given.db)).filter(({ subject }) => subject.includes(`${given.ticketId}`));

test('of 60 freed seats a partner with 2,000 older entries gets its share, and each of 20 others gets one', async () => {
  const sold = await sellOut();
  const others = await Promise.all(Array.from({ length: 20 }, addPartner));
  let hoarded: string[] = [];
  const waiting: string[] = [];
  await withLongList(async () => {
    hoarded = await join(given.gala, 2_000);
    for (const other of others) waiting.push(...(await join(other, 1)));
  });
  await sql`analyze waiting_entries`.execute(given.db);
  // Entries of a partner at its share are not read.
  const read = await rowsRead(
    given.database.url,
    (db) =>
      changeRegistrations(
        db,
        given.gala.shardId,
        'cancelled',
        sold.slice(0, 60).map((seat) => ({ ...given.gala, ...seat })),
        { holdSharePercent: SHARE },
      ),
    'waiting_entries',
  );
  expect(read).toBeLessThan(500);
  expect(await offeredOf(given.gala, hoarded)).toBe(SHARE);
  // In their order.
  expect(await offeredOf(given.gala, hoarded.slice(0, SHARE))).toBe(SHARE);
  for (const [index, entry] of waiting.entries())
    expect((await findEntry(given.db, others[index]!, entry))!.state).toBe('offered');
  // The next entry keeps its place, and is told how many passed it.
  expect(await findEntry(given.db, given.gala, hoarded[SHARE]!)).toMatchObject({ position: 1, skipped: 20 });
  expect(await serve()).toBe(0);
  // With five fewer held seats, five more are offered.
  for (const entry of hoarded.slice(0, 5))
    expect(
      (await given.partner.post(`/holds/${entry}/confirm`, { contact: CONTACT })).body.responseCode,
    ).toBe('00');
  expect(await serve()).toBe(5);
  expect(await offeredOf(given.gala, hoarded)).toBe(SHARE);
  expect(await problems()).toEqual([]);
});

test('baskets and offers share one limit; the freed share is offered at once', async () => {
  await given.useTicket({ capacity: 10, offerHours: 24 });
  const seats = [{ organizedEventTicketID: given.ticketId, seats: 4 }];
  const held = (await given.partner.post('/holds', { tickets: seats })).body.responseData as Hold;
  const sold = await sellOut(6);
  const other = await addPartner();
  const [mine] = await join(given.gala, 1);
  const [theirs] = await join(other, 1);
  await cancel(sold.slice(0, 2));
  expect([await statesOf(given.gala, [mine!]), await statesOf(other, [theirs!])]).toEqual([
    ['waiting'],
    ['offered'],
  ]);
  await given.partner.post(`/holds/${held.holdReference}/release`, {});
  expect(await statesOf(given.gala, [mine!])).toEqual(['offered']);
});

test('an entry of more seats than the share is offered to a partner that holds nothing, and only then', async () => {
  await given.useTicket({ capacity: 12, offerHours: 24 });
  const sold = await sellOut(12);
  const [one, large] = [await join(given.gala, 1), await join(given.gala, 1, 8)].flat();
  await cancel(sold.slice(0, 9));
  expect(await statesOf(given.gala, [one!, large!])).toEqual(['offered', 'waiting']);
  await endHolds(given.db, given.gala);
  expect(await expireHolds(given.db, given.gala.shardId, 100)).toBe(1);
  expect(await statesOf(given.gala, [one!, large!])).toEqual(['expired', 'offered']);
});

test('a call that does not know the share leaves the seats to the worker, and nobody else gets them', async () => {
  const sold = await sellOut();
  const [entry] = await join(given.gala, 1);
  await cancel(sold.slice(0, 1), null);
  expect(await statesOf(given.gala, [entry!])).toEqual(['waiting']);
  const [newcomer] = await reserveBatch(given.db, randomUUID(), [reservationOf(given.gala, given.ticketId)]);
  expect(newcomer!.kind).toBe('sold-out');
  expect(await serve()).toBe(1);
  expect(await statesOf(given.gala, [entry!])).toEqual(['offered']);
});

test('the entries of a partner wait for at most as many seats as the ticket has', async () => {
  await given.useTicket({ capacity: 12, offerHours: 24 });
  await sellOut(12);
  const ask = (client: PartnerClient, seats: number) =>
    client.post('/waiting-list', { organizedEventTicketID: given.ticketId, seats, contact: CONTACT });
  const { entry } = (await ask(given.partner, 10)).body.responseData as WaitingEntry;
  const refused = await ask(given.partner, 3);
  expectFailure(refused, '37', 409);
  expect(refused.body.responseMessage).toBe('Your entries wait for as many seats as the ticket has');
  expect((await ask(given.partner, 2)).body.responseCode).toBe('00');
  expect((await ask((await addPartner()).client, 10)).body.responseCode).toBe('00');
  await given.partner.post(`/waiting-list/${entry}/leave`, {});
  expect((await ask(given.partner, 10)).body.responseCode).toBe('00');
});

test('places are read from the first thousand entries, once for all who ask; the operator sees all of them', async () => {
  await sellOut();
  let entries: string[] = [];
  await withLongList(async () => {
    entries = await join(given.gala, 4 * PLACES);
  });
  const asked = [0, 1, PLACES - 1, PLACES, 4 * PLACES - 1].map((index) => ({
    ...given.gala,
    entry: entries[index]!,
  }));
  const found = await findEntries(given.db, asked);
  expect(found.map((entry) => entry!.position)).toEqual([1, 2, PLACES, PLACES + 1, PLACES + 1]);
  await sql`analyze waiting_entries`.execute(given.db);
  const all = entries.map((entry) => ({ ...given.gala, entry })).slice(-500);
  const read = await rowsRead(given.database.url, (db) => findEntries(db, all), 'waiting_entries');
  // Each by its key, and the first thousand of the list.
  expect(read).toBeLessThanOrEqual(500 + PLACES + 10);
  const { shardId } = given.gala;
  const page = await listEntries(given.db, { shardId, ticketId: given.ticketId, after: 0, limit: 10_000 });
  expect(page.map(({ position }) => position)).toEqual(entries.map((_, index) => index + 1));
});

test('an offer ends with the sale, and with the start of the event', async () => {
  const { rows } = await sql<Record<'sale' | 'start', Date>>`
    select now() + interval '90 minutes' as sale, now() + interval '80 minutes' as start`.execute(given.db);
  const sold = await sellOut();
  const entries = await join(given.gala, 2);
  const endOf = async (entry: string) => (await findEntry(given.db, given.gala, entry))!.dateExpires;
  await sql`update tickets set sale_ends_at = ${rows[0]!.sale} where id = ${given.ticketId}`.execute(
    given.db,
  );
  await cancel(sold.slice(0, 1));
  expect(Date.parse((await endOf(entries[0]!))!)).toBe(rows[0]!.sale.getTime());
  await sql`update events set starts_at = ${rows[0]!.start} where id = ${given.gala.eventId}`.execute(
    given.db,
  );
  await cancel(sold.slice(1, 2));
  expect(Date.parse((await endOf(entries[1]!))!)).toBe(rows[0]!.start.getTime());
});

test('after the start of the event nobody gets an offer or joins, and entries that wait expire', async () => {
  const sold = await sellOut();
  const [entry] = await join(given.gala, 1);
  await sql`update events set starts_at = now() where id = ${given.gala.eventId}`.execute(given.db);
  await cancel(sold.slice(0, 1));
  expect(await statesOf(given.gala, [entry!])).toEqual(['waiting']);
  const asked = { organizedEventTicketID: given.ticketId, contact: CONTACT };
  expectFailure(await given.partner.post('/waiting-list', asked), '39', 409);
  expect(await serve()).toBe(1);
  expect(await statesOf(given.gala, [entry!])).toEqual(['expired']);
});
