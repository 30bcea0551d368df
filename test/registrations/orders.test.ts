import { reconcile } from '@floodgate/registrations';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, describe, expect } from 'vitest';
import type { Hold } from '@floodgate/contract';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { attendee, type Answer } from '../harness/partner-client.ts';
import { endHolds } from '../harness/reservation.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 200 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const JANE = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
const JOE = { fullName: 'Joe Doe', emailAddress: 'joe@example.com' };

const seats = (count: number, ticketId = given.ticketId) => ({
  tickets: [{ organizedEventTicketID: ticketId, seats: count }],
});

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what is answered
const dataIn = <Data = Hold>({ body }: Answer) => {
  expect(body.responseCode, body.responseMessage).toBe('00');
  return body.responseData as Data;
};

const hold = async (count: number, partnerReference?: string, headers: Record<string, string> = {}) =>
  dataIn(await given.partner.post('/holds', { ...seats(count), partnerReference }, headers));

const read = async ({ holdReference }: Hold) =>
  dataIn(await given.partner.request(`/api/v1/events/holds/${holdReference}`));

const add = ({ holdReference }: Hold, body: object, headers: Record<string, string> = {}) =>
  given.partner.post(`/holds/${holdReference}/seats`, body, headers);

const confirmAll = (...holds: object[]) => given.partner.post('/holds/confirm', { holds });
const cancelAll = (passReferences: readonly string[]) =>
  given.partner.post('/registrations/cancel', { passReferences });

const referencesOf = (...holds: Hold[]) =>
  holds.flatMap((one) => one.seats.map(({ passReference }) => passReference));
const statesOf = (one: Hold) => one.seats.map(({ state }) => state);
const finalize = () => finalizePending(given.database.db, given.gala.shardId);

const taken = async () => {
  const { rows } = await sql<{
    taken: number;
  }>`select taken from tickets where id = ${given.ticketId}`.execute(given.database.db);
  return rows[0]!.taken;
};

function expectRefused(answer: Answer, code: '11' | '33' | '34' | '35' | '37', message: string): void {
  expectFailure(answer, code, { '11': 422, '33': 409, '34': 404, '35': 409, '37': 409 }[code]);
  expect(answer.body.responseMessage).toBe(message);
}

describe('Add Seats', () => {
  test('the added seats are part of the hold, and end with it', async () => {
    const made = await hold(1, 'order-1', { 'hold-for': '120' });
    const grown = dataIn(await add(made, seats(2)));
    expect(grown).toMatchObject({ holdReference: made.holdReference, partnerReference: 'order-1' });
    expect(statesOf(grown)).toEqual(['held', 'held', 'held']);
    expect(await taken()).toBe(3);
    const { rows } = await sql<{ early: number }>`
      select extract(epoch from max(held_until) - min(held_until))::float8 as early from registrations
      where hold_id = ${made.holdReference}`.execute(given.database.db);
    // Whole seconds are left, rounded down.
    expect(rows[0]!.early).toBeLessThan(60);
    expect(await read(made)).toMatchObject({ seats: grown.seats });
    const people = [JANE, JOE, { ...JANE, emailAddress: 'j@example.com' }];
    const path = `/holds/${made.holdReference}/confirm`;
    expect(dataIn(await given.partner.post(path, { attendees: people })).state).toBe('confirmed');
    expectRefused(await add(made, seats(1)), '35', 'The hold is confirmed already');
  });

  test('a repeated call with the same key adds the seats once', async () => {
    const made = await hold(1);
    const key = { 'idempotency-key': randomUUID() };
    const grown = dataIn(await add(made, seats(2), key));
    const again = await add(made, seats(2), key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(dataIn(again).seats).toEqual(grown.seats);
    expect(await taken()).toBe(3);
    expectFailure(await add(made, seats(3), key), '40', 422);
    expectFailure(await add(await hold(1), seats(2), key), '40', 422);
  });

  test('a hold has at most 100 seats, a share of the ticket, and nothing of another event', async () => {
    const made = await hold(40);
    expectRefused(
      await add(made, seats(1)),
      '37',
      'tickets[0]: You can hold at most 40 seats of this ticket at a time',
    );
    const [large, small] = [
      await given.gala.addTicket({ capacity: 1_000 }),
      await given.gala.addTicket({ capacity: 1 }),
    ];
    const most = 'tickets: with the seats that the hold has, together at most 100 seats';
    expectRefused(await add(made, seats(61, large)), '11', most);
    const soldOut = await add(made, { tickets: [...seats(1, large).tickets, ...seats(2, small).tickets] });
    expectFailure(soldOut, '32', 409);
    expect((await read(made)).seats).toHaveLength(40);
    expect(dataIn(await add(made, seats(60, large))).seats).toHaveLength(100);
    expectRefused(await add({ ...made, holdReference: randomUUID() }, seats(1)), '34', 'No such hold');
  });

  test('an expired or released hold gets no seats', async () => {
    const [late, released] = [await hold(1), await hold(1)];
    dataIn(await given.partner.post(`/holds/${released.holdReference}/release`, {}));
    expectRefused(await add(released, seats(1)), '35', 'The seats of the hold were released');
    await endHolds(given.database.db, given.gala);
    expectRefused(await add(late, seats(1)), '35', 'The hold has expired');
  });

  test('an offer of a waiting list gets no seats', async () => {
    await given.useTicket({ capacity: 1, offerHours: 1 });
    const sold = dataIn<string>(await given.partner.register(attendee(given.ticketId)));
    const entry = dataIn<{ entry: string }>(
      await given.partner.post('/waiting-list', { organizedEventTicketID: given.ticketId, contact: JANE }),
    );
    dataIn(await given.partner.cancel(sold));
    expectRefused(
      await given.partner.post(`/holds/${entry.entry}/seats`, seats(1)),
      '35',
      'The offer of a waiting list cannot get more seats; hold them with Hold Seats',
    );
  });
});

describe('Find Holds', () => {
  const find = async (partnerReference: string) => {
    const query = new URLSearchParams({ partnerReference }).toString();
    const answer = await given.partner.request(`/api/v1/events/holds?${query}`);
    return dataIn<{ holds: Hold[] }>(answer).holds;
  };

  test('finds the holds of an own reference, the newest first, whole and as they are now', async () => {
    const [first, second] = [await hold(2, 'Bestellung 7/ü'), await hold(1, 'Bestellung 7/ü')];
    await hold(1, 'another');
    await given.partner.register({ ...attendee(given.ticketId), partnerReference: 'Bestellung 7/ü' });
    const passReferences = referencesOf(first).slice(0, 1);
    await given.partner.post(`/holds/${first.holdReference}/release`, { passReferences });
    const found = await find('Bestellung 7/ü');
    expect(found.map(({ holdReference }) => holdReference)).toEqual([
      second.holdReference,
      first.holdReference,
    ]);
    expect(statesOf(found[1]!)).toEqual(['cancelled', 'held']);
    expect(await find('nothing')).toEqual([]);
  });

  test('needs the reference', async () => {
    expectFailure(await given.partner.request('/api/v1/events/holds'), '11', 422);
  });
});

describe('Confirm Holds', () => {
  const of = ({ holdReference }: Hold, names: object) => ({ holdReference, ...names });

  test('confirms all holds of an order; the same call again is answered like the first', async () => {
    const [first, second] = [await hold(2), await hold(1)];
    const call = () => confirmAll(of(first, { attendees: [JANE, JOE] }), of(second, { contact: JANE }));
    for (let times = 0; times < 2; times++) {
      const { holds } = dataIn<{ holds: Hold[] }>(await call());
      expect(holds.map(({ holdReference, state }) => [holdReference, state])).toEqual([
        [first.holdReference, 'confirmed'],
        [second.holdReference, 'confirmed'],
      ]);
    }
    await finalize();
    const kinds = (await journalOf(given.database.db, given.gala)).map(({ kind }) => kind);
    expect(kinds).toEqual(['confirmed', 'confirmed', 'confirmed']);
  });

  test('confirms none if one cannot be confirmed, and says which', async () => {
    const [good, released] = [await hold(1), await hold(1)];
    await given.partner.post(`/holds/${released.holdReference}/release`, {});
    const named = { contact: JANE };
    const gone = 'The seats of the hold were released';
    expectRefused(await confirmAll(of(good, named), of(released, named)), '35', `holds[1]: ${gone}`);
    const unknown = { ...good, holdReference: randomUUID() };
    expectRefused(await confirmAll(of(unknown, named), of(good, named)), '34', 'holds[0]: No such hold');
    expectRefused(
      await confirmAll(of(good, { attendees: [JANE, JOE] })),
      '11',
      'holds[0]: attendees: 1, one for each held seat',
    );
    expectRefused(await confirmAll(of(good, {})), '11', 'holds[0]: Send either attendees or contact');
    expectRefused(await confirmAll(of(good, named), of(good, named)), '11', 'holds: each hold once');
    expect(statesOf(await read(good))).toEqual(['held']);
  });

  test('a hold that is released while the call waits for the commit: none is confirmed', async () => {
    const [good, released] = [await hold(1), await hold(1)];
    const other = await given.database.db.startTransaction().execute();
    await sql`
      update registrations set cancelled_at = now() where hold_id = ${released.holdReference}`.execute(other);
    const call = confirmAll(of(good, { contact: JANE }), of(released, { contact: JANE }));
    await waitForLockWaiters(given.database.db, 1);
    await other.commit().execute();
    expect((await call).body.responseCode).toBe('35');
    expect(statesOf(await read(good))).toEqual(['held']);
    await sql`
      update registrations set cancelled_at = null where hold_id = ${released.holdReference}`.execute(
      given.database.db,
    );
  });

  test('an attendee can have one seat over all holds of the call, if the event says so', async () => {
    await given.useEvent({ duplicatePolicy: 'reject' });
    await given.useTicket({ capacity: 100 });
    const [first, second] = [await hold(1), await hold(1)];
    const twice = await confirmAll(of(first, { contact: JANE }), of(second, { contact: JANE }));
    expectFailure(twice, '33', 409);
    expect(twice.body.responseMessage).toMatch(/^holds\[1\]: /);
    expect([...statesOf(await read(first)), ...statesOf(await read(second))]).toEqual(['held', 'held']);
    dataIn(await confirmAll(of(first, { contact: JANE }), of(second, { contact: JOE })));
  });
});

describe('Cancel Registrations', () => {
  const bought = async (count: number) => {
    const made = await hold(count);
    return dataIn(await given.partner.post(`/holds/${made.holdReference}/confirm`, { contact: JANE }));
  };

  test('cancels all; the same call again is answered like the first', async () => {
    const passReferences = referencesOf(await bought(3));
    for (let times = 0; times < 2; times++)
      expect(dataIn(await cancelAll(passReferences))).toEqual({ passReferences });
    expect(await taken()).toBe(0);
    await finalize();
    const kinds = (await journalOf(given.database.db, given.gala)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'cancelled')).toHaveLength(3);
  });

  test('cancels none if one cannot be cancelled, and says which', async () => {
    const [first, second, third] = referencesOf(await bought(3)) as [string, string, string];
    const wrong = second.replace(/\d{4}$/, '0000');
    expectRefused(await cancelAll([first, wrong]), '34', 'passReferences[1]: No such registration');
    expectRefused(await cancelAll([first, 'nonsense']), '34', 'passReferences[1]: No such registration');
    const moved = await given.partner.post(`/registrations/${third}/attendee`, JOE);
    dataIn<string>(moved);
    const replaced = 'The attendee was changed, and the seat belongs to the new registration';
    expectRefused(await cancelAll([first, third]), '35', `passReferences[1]: ${replaced}`);
    await finalize();
    await sql`
      insert into admissions
        (shard_id, event_id, partner_id, registration, seat, area, gate_id, device_id, counter, at, is_open)
      select shard_id, event_id, partner_id, serial, serial, 'hall', 1, 1, 1, now(), true from registrations
      where serial = ${Number(second.split('-')[2])}`.execute(given.database.db);
    const admitted = 'The seat was admitted at the door, so only the operator of the event can change it';
    expectRefused(await cancelAll([first, second]), '35', `passReferences[1]: ${admitted}`);
    expectRefused(await cancelAll([first, first]), '11', 'passReferences: each pass reference once');
    expect(await taken()).toBe(3);
    dataIn(await cancelAll([first]));
    expect(await taken()).toBe(2);
  });
});
