import { expireHolds, reconcile } from '@floodgate/registrations';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import type { Hold } from '@floodgate/contract';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { endHolds } from '../harness/reservation.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 100 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const NOBODY = { name: null, email: null };
const JANE = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
const JOE = { fullName: 'Joe Doe', emailAddress: 'joe@example.com', gender: 'male' };

const basket = (seats: number, more: object = {}) => ({
  tickets: [{ organizedEventTicketID: given.ticketId, seats }],
  ...more,
});

const holdIn = ({ body }: Answer) => {
  expect(body.responseCode, body.responseMessage).toBe('00');
  return body.responseData as Hold;
};

const hold = async (seats: number, more: object = {}, headers: Record<string, string> = {}) =>
  holdIn(await given.partner.post('/holds', basket(seats, more), headers));

const change = ({ holdReference }: Hold, name: string, body: object = {}, client = given.partner) =>
  client.post(`/holds/${holdReference}/${name}`, body);

const codeOf = ({ body }: Answer) => body.responseCode;
const states = ({ seats }: Hold) => seats.map(({ state }) => state);
const finalize = () => finalizePending(given.database.db, given.gala.shardId);
const told = async () =>
  (await journalOf(given.database.db, given.gala))
    .filter(({ serial }) => serial !== null)
    .map(({ kind }) => kind);

const left = async () => {
  const { rows } = await sql<{ left: number }>`
    select capacity - taken as left from tickets where id = ${given.ticketId}`.execute(given.database.db);
  return rows[0]!.left;
};

const stored = async ({ seats }: Hold) => {
  const serials = seats.map(({ passReference }) => Number(passReference.split('-')[2]));
  const { rows } = await sql<{ name: string | null; email: string | null }>`
    select full_name as name, email_address as email from registrations
    where serial = any(${serials}::bigint[]) order by serial`.execute(given.database.db);
  return rows;
};

function expectRefused(answer: Answer, code: '11' | '33' | '34' | '35', message: string): void {
  expectFailure(answer, code, { '11': 422, '33': 409, '34': 404, '35': 409 }[code]);
  expect(answer.body.responseMessage).toBe(message);
}

test('seats of a basket are held without an attendee, then confirmed with one each', async () => {
  const made = await hold(2, { partnerReference: 'order-1' });
  expect(made).toMatchObject({ state: 'held', partnerReference: 'order-1' });
  expect(states(made)).toEqual(['held', 'held']);
  expect(await left()).toBe(98);
  expect(await stored(made)).toEqual([NOBODY, NOBODY]);
  await finalize();
  expect(await told()).toEqual([]);
  const confirmed = holdIn(await change(made, 'confirm', { attendees: [JANE, JOE] }));
  expect(confirmed).toMatchObject({ state: 'confirmed', dateExpires: null });
  // Its batch is finalized, but the confirmation is not in the journal yet.
  expect(states(confirmed)).toEqual(['reserved', 'reserved']);
  expect(await stored(made)).toEqual([
    { name: 'Jane Doe', email: 'jane@example.com' },
    { name: 'Joe Doe', email: 'joe@example.com' },
  ]);
  await finalize();
  expect(await told()).toEqual(['confirmed', 'confirmed']);
  expect(holdIn(await given.partner.request(`/api/v1/events/holds/${made.holdReference}`))).toMatchObject({
    state: 'confirmed',
    seats: [{ state: 'confirmed' }, { state: 'confirmed' }],
  });
});

test('one contact stands for all seats; the same confirmation again is answered like the first', async () => {
  const made = await hold(3);
  for (let times = 0; times < 2; times++)
    expect(holdIn(await change(made, 'confirm', { contact: JANE })).state).toBe('confirmed');
  expectRefused(await change(made, 'confirm', { contact: JOE }), '35', 'The hold is confirmed already');
  expectRefused(await change(made, 'extend'), '35', 'The hold is confirmed already');
  expectRefused(await change(made, 'release'), '35', 'The hold is confirmed already');
  await finalize();
  expect(await told()).toEqual(['confirmed', 'confirmed', 'confirmed']);
});

test('several tickets are held together or not at all', async () => {
  const other = given.ticketId;
  await given.useTicket({ capacity: 1 });
  const both = (seats: number) => ({
    tickets: [
      { organizedEventTicketID: other, seats: 2 },
      { organizedEventTicketID: given.ticketId, seats },
    ],
  });
  const refused = await given.partner.post('/holds', both(2));
  expectFailure(refused, '32', 409);
  expect(refused.body.responseMessage).toBe('tickets[1]: The ticket is sold out');
  expect(await left()).toBe(1);
  const made = holdIn(await given.partner.post('/holds', both(1)));
  expect(made.seats.map(({ organizedEventTicketID }) => organizedEventTicketID)).toEqual([
    other,
    other,
    given.ticketId,
  ]);
});

test('an abandoned basket expires: its seats can be sold, and nothing was stored of anybody', async () => {
  const made = await hold(2);
  await endHolds(given.database.db, given.gala);
  expectRefused(await change(made, 'confirm', { contact: JANE }), '35', 'The hold has expired');
  expectRefused(await change(made, 'extend'), '35', 'The hold has expired');
  expect(await expireHolds(given.database.db, given.gala.shardId, 1_000)).toBe(2);
  expect(await left()).toBe(100);
  expect(await stored(made)).toEqual([NOBODY, NOBODY]);
  await finalize();
  await given.database.db.executeQuery(
    sql`select index_attendees(${given.gala.shardId}, 1000)`.compile(given.database.db),
  );
  expect(holdIn(await change(made, 'release'))).toMatchObject({ state: 'cancelled', dateExpires: null });
});

test('a release is safe to repeat with a longer list', async () => {
  const made = await hold(3);
  const passReferences = made.seats.map(({ passReference }) => passReference);
  for (const count of [1, 2, 2]) {
    const released = await change(made, 'release', { passReferences: passReferences.slice(0, count) });
    expect(states(holdIn(released)).filter((state) => state === 'cancelled')).toHaveLength(count);
  }
  expect(await left()).toBe(99);
  // A confirmed seat is not released, and then no other of the list.
  expect(codeOf(await change(made, 'confirm', { contact: JANE }))).toBe('00');
  expectRefused(await change(made, 'release', { passReferences }), '35', 'The hold is confirmed already');
});

test('no hold lasts beyond the end of the sale as it is known when the hold is made or extended', async () => {
  const { rows } = await sql<{ end: Date }>`select now() + interval '5 minutes' as end`.execute(given.db);
  const { end } = rows[0]!;
  const other = await given.gala.addTicket({ capacity: 100 });
  const setSale = (ticketId: number, setting: string) =>
    sql`update tickets set ${sql.raw(setting)} where id = ${ticketId}`.execute(given.db);
  const setEnd = (ticketId: number, minutes: number) =>
    sql`update tickets set sale_ends_at = ${end}::timestamptz + make_interval(mins => ${minutes}) where id = ${ticketId}`.execute(
      given.db,
    );
  await setEnd(other, 0);
  // The hold ends as a whole, with the first of its tickets.
  const made = await hold(1, {
    tickets: [given.ticketId, other].map((organizedEventTicketID) => ({ organizedEventTicketID, seats: 1 })),
  });
  expect(Date.parse(made.dateExpires!)).toBe(end.getTime());
  expect(holdIn(await given.partner.request(`/api/v1/events/holds/${made.holdReference}`))).toEqual(made);
  // One reservation is held like a basket.
  await given.partner.register(attendee(other), { 'hold-for': '600' });
  const held = await sql<{
    until: Date;
  }>`select held_until as until from registrations where ticket_id = ${other}`.execute(given.db);
  expect(held.rows.map(({ until }) => until)).toEqual([end, end]);
  const extended = async () => {
    const { holdReference } = made;
    const answer = await given.partner.post(`/holds/${holdReference}/extend`, {}, { 'hold-for': '1800' });
    return Date.parse(holdIn(answer).dateExpires!) - end.getTime();
  };
  expect(await extended()).toBe(0);
  await setEnd(other, 2);
  expect(await extended()).toBe(120_000);
  // What was promised stays, and gets no more time.
  await setSale(given.ticketId, 'active = false');
  await setEnd(other, 10);
  expect(await extended()).toBe(120_000);
  await setEnd(other, -60);
  expect(await extended()).toBe(120_000);
  expect(codeOf(await change(made, 'confirm', { contact: JANE }))).toBe('00');
});

test('a part of a basket is released, the rest is confirmed', async () => {
  const made = await hold(3);
  const [first] = made.seats;
  for (let times = 0; times < 2; times++)
    expect(states(holdIn(await change(made, 'release', { passReferences: [first!.passReference] })))).toEqual(
      ['cancelled', 'held', 'held'],
    );
  expect(await left()).toBe(98);
  const foreign = first!.passReference.replace(/\d{3}$/, '000');
  expectRefused(
    await change(made, 'release', { passReferences: [foreign] }),
    '11',
    'passReferences: seats of this hold',
  );
  expectRefused(
    await change(made, 'confirm', { attendees: [JANE, JOE, JANE] }),
    '11',
    'attendees: 2, one for each held seat',
  );
  expect(states(holdIn(await change(made, 'confirm', { attendees: [JANE, JOE] })))).toEqual([
    'cancelled',
    'reserved',
    'reserved',
  ]);
  await finalize();
  const passReferences = made.seats.map(({ passReference }) => passReference);
  expectRefused(await change(made, 'release', { passReferences }), '35', 'The hold is confirmed already');
});

test('a hold is extended, at most until the operator’s limit', async () => {
  const made = await hold(1, {}, { 'hold-for': '60' });
  const expiry = ({ dateExpires }: Hold) => Date.parse(dateExpires!) - Date.parse(made.dateExpires!);
  const extend = (seconds: string) =>
    given.partner.post(`/holds/${made.holdReference}/extend`, {}, { 'hold-for': seconds });
  expect(expiry(holdIn(await extend('120')))).toBeGreaterThanOrEqual(60_000);
  // Never earlier.
  expect(expiry(holdIn(await extend('60')))).toBeGreaterThanOrEqual(60_000);
  expect(expiry(holdIn(await extend('1800')))).toBe(1_740_000);
});

test('a retried call gets the same hold', async () => {
  const call = (seats: number) =>
    given.partner.post('/holds', basket(seats), { 'idempotency-key': randomUUID() });
  expect(holdIn(await call(2)).holdReference).not.toBe(holdIn(await call(2)).holdReference);
  const key = { 'idempotency-key': 'order-1' };
  const made = await hold(2, {}, key);
  const again = await given.partner.post('/holds', basket(2), key);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(holdIn(again)).toEqual(made);
  const same = { tickets: [{ unknown: 1, seats: 2, organizedEventTicketID: given.ticketId }] };
  expect(holdIn(await given.partner.post('/holds', same, key))).toEqual(made);
  expectFailure(await given.partner.post('/holds', basket(3), key), '40', 422);
});

test('a refusal is repeated as a replay', async () => {
  await given.useTicket({ capacity: 1 });
  const call = () => given.partner.post('/holds', basket(2), { 'idempotency-key': 'order-1' });
  for (const replayed of [null, 'true']) {
    const refused = await call();
    expectFailure(refused, '32', 409);
    expect(refused.headers.get('idempotent-replayed')).toBe(replayed);
  }
});

test('an unknown hold is not found', async () => {
  const unknown = { ...(await hold(1)), holdReference: randomUUID() };
  expectRefused(await change(unknown, 'confirm', { contact: JANE }), '34', 'No such hold');
});

test('bad input is named', async () => {
  const made = await hold(1);
  const either = 'Send either attendees or contact';
  expectRefused(await change(made, 'confirm', {}), '11', either);
  expectRefused(await change(made, 'confirm', { attendees: [JANE], contact: JANE }), '11', either);
  expectFailure(await change(made, 'confirm', { contact: { ...JANE, emailAddress: 'jane' } }), '11', 422);
  const many = { tickets: [1, 2].map(() => ({ organizedEventTicketID: given.ticketId, seats: 51 })) };
  expectRefused(await given.partner.post('/holds', many), '11', 'tickets: together at most 100 seats');
  expectFailure(await given.partner.post('/holds', basket(0)), '11', 422);
  expectFailure(await given.partner.post('/holds', basket(1, { partnerReference: '' })), '11', 422);
  // A seat without an attendee is confirmed only with its hold.
  expectRefused(
    await given.partner.confirm(made.seats[0]!.passReference),
    '35',
    'The registration has no attendee yet; call Confirm Hold',
  );
});

test('an event that allows each attendee once refuses the whole hold of a second one', async () => {
  await given.useEvent({ duplicatePolicy: 'reject' });
  await given.useTicket({ capacity: 100 });
  const already = 'already registered for the event';
  const [one, two, three] = [await hold(1), await hold(2), await hold(2)];
  expect(holdIn(await change(one, 'confirm', { contact: JANE })).state).toBe('confirmed');
  const refuse = async (held: Hold, body: object) => {
    const asked = { 'x-error-details': 'json' };
    const answer = await given.partner.post(`/holds/${held.holdReference}/confirm`, body, asked);
    expect(answer.body.responseCode).toBe('33');
    const fields = JSON.parse(answer.headers.get('x-invalid-fields')!) as { field: string; rule: string }[];
    expect(new Set(fields.map(({ rule }) => rule))).toEqual(new Set(['duplicate']));
    return [answer.body.responseMessage, ...fields.map(({ field }) => field)];
  };
  expect(await refuse(two, { attendees: [JOE, JANE] })).toEqual([
    `attendees[1].emailAddress: ${already}`,
    'attendees/1/emailAddress',
  ]);
  expect(await refuse(two, { attendees: [JOE, { ...JOE, emailAddress: ' JOE@example.com' }] })).toEqual([
    'attendees[1].emailAddress: the same as that of attendees[0]',
    'attendees/1/emailAddress',
  ]);
  expect(await refuse(two, { attendees: [JANE, JANE] })).toEqual([
    `attendees[0].emailAddress: ${already}; attendees[1].emailAddress: ${already}`,
    'attendees/0/emailAddress',
    'attendees/1/emailAddress',
  ]);
  expect(await refuse(await hold(1), { contact: JANE })).toEqual([
    `contact.emailAddress: ${already}`,
    'contact/emailAddress',
  ]);
  expect(await refuse(three, { contact: JOE })).toEqual([
    'contact: its e-mail address can have one seat, and the hold has several; send attendees, one for each held seat',
    'contact/emailAddress',
  ]);
  expect(states(holdIn(await given.partner.request(`/api/v1/events/holds/${two.holdReference}`)))).toEqual([
    'held',
    'held',
  ]);
  const max = { fullName: 'Max', emailAddress: 'max@example.com' };
  expect(holdIn(await change(two, 'confirm', { attendees: [JOE, max] })).state).toBe('confirmed');
});

test('confirmed, released and expired at two APIs at once: one of them wins, and each change is told once', async () => {
  const other = await startInProcessApi({ DATABASE_URL: given.database.url });
  const clients = [given.partner, new PartnerClient(other.baseUrl, given.gala)];
  try {
    for (let round = 0; round < 30; round++) {
      const made = await hold(2);
      const answers = await Promise.all([
        ...clients.map((client) => change(made, 'confirm', { contact: JANE }, client)),
        ...clients.map((client) => change(made, 'release', {}, client)),
      ]);
      const codes = answers.map(({ body }) => body.responseCode);
      expect([
        ['00', '00', '35', '35'],
        ['35', '35', '00', '00'],
      ]).toContainEqual(codes);
      const seats = states(holdIn(await given.partner.request(`/api/v1/events/holds/${made.holdReference}`)));
      expect(seats).toEqual(Array(2).fill(codes[0] === '00' ? 'reserved' : 'cancelled'));
      if (codes[0] === '00')
        for (const { passReference } of made.seats) await given.partner.cancel(passReference);
    }
  } finally {
    await other.close();
  }
  await finalize();
  const entries = (await journalOf(given.database.db, given.gala)).map(
    ({ kind, serial }) => `${kind} ${serial}`,
  );
  expect(new Set(entries).size).toBe(entries.length);
  expect(await left()).toBe(100);
});

test('calls for one hold that wait for the same commit change it one after the other', async () => {
  await given.useEvent({ duplicatePolicy: 'reject' });
  await given.useTicket({ capacity: 100 });
  const named = (name: string) => ({
    attendees: [1, 2].map((seat) => ({ ...JANE, emailAddress: `${name}.${seat}@example.com` })),
  });
  const [first, same, differing] = [await hold(1), await hold(2), await hold(2)];
  const holder = await given.database.db.startTransaction().execute();
  await sql`
    select from registrations where shard_id = ${given.gala.shardId} and hold_id = ${first.holdReference} for update`.execute(
    holder,
  );
  const inFlight = change(first, 'confirm', { contact: JOE });
  await waitForLockWaiters(given.database.db, 1);
  const answers = Promise.all([
    change(same, 'confirm', named('jane')),
    change(same, 'confirm', named('jane')),
    change(differing, 'confirm', named('joe')),
    change(differing, 'confirm', named('max')),
  ]);
  // They are read in one statement.
  await given.partner.request(`/api/v1/events/holds/${differing.holdReference}`);
  await holder.rollback().execute();
  expect(holdIn(await inFlight).state).toBe('confirmed');
  expect((await answers).map(({ body }) => body.responseCode)).toEqual(['00', '00', '00', '35']);
  const emails = (await stored(differing)).map(({ email }) => email);
  expect(emails).toEqual(['joe.1@example.com', 'joe.2@example.com']);
  await finalize();
});

test('under a test event, a partner reference provokes an outcome', async () => {
  await given.useEvent({ mode: 'test' });
  await given.useTicket({ capacity: 100 });
  expectFailure(await given.partner.post('/holds', basket(1, { partnerReference: 'code-32' })), '32', 409);
  const made = await hold(1);
  const late = { ...JANE, emailAddress: 'code-35@floodgate.invalid' };
  expectFailure(await change(made, 'confirm', { contact: late }), '35', 409);
  // The answer gets lost: the repetition finds the change made.
  const lost = { ...JANE, emailAddress: 'code-91@floodgate.invalid' };
  expectFailure(await change(made, 'confirm', { contact: lost }), '91', 503);
  expect(holdIn(await change(made, 'confirm', { contact: lost })).state).toBe('confirmed');
  const key = { 'idempotency-key': 'a' };
  expectFailure(
    await given.partner.post('/holds', basket(1, { partnerReference: 'code-91' }), key),
    '91',
    503,
  );
  expect(
    states(holdIn(await given.partner.post('/holds', basket(1, { partnerReference: 'code-91' }), key))),
  ).toEqual(['held']);
  const replace = () =>
    given.partner.post(`/registrations/${made.seats[0]!.passReference}/attendee`, {
      ...lost,
      fullName: 'Joe',
    });
  expectFailure(await replace(), '91', 503);
  expect((await replace()).body.responseCode).toBe('00');
  const hold91 = holdIn(await given.partner.request(`/api/v1/events/holds/${made.holdReference}`));
  expect([hold91.state, ...states(hold91)]).toEqual(['confirmed', 'cancelled', 'reserved']);
});

const listed = async (query: string) => {
  const { body } = await given.partner.request(`/api/v1/events/registrations?${query}`);
  expect(body.responseCode, body.responseMessage).toBe('00');
  return body.responseData as RegistrationPage;
};
type RegistrationPage = {
  registrations: { passReference: string; state: string; partnerReference?: string | null }[];
  cursor: string;
  more: boolean;
};

test('registrations are found by the partner’s own reference, whichever call made them', async () => {
  const reference = 'Bestellung Nº 7';
  const single = await given.partner.register({ ...attendee(given.ticketId), partnerReference: reference });
  await given.partner.registerBulk([
    { ...attendee(given.ticketId), partnerReference: reference },
    { ...attendee(given.ticketId), partnerReference: 'another' },
    attendee(given.ticketId),
  ]);
  await hold(2, { partnerReference: reference });
  const query = `partnerReference=${encodeURIComponent(reference)}`;
  const { registrations, more } = await listed(query);
  expect(registrations.map(({ state }) => state)).toEqual(['reserved', 'reserved', 'held', 'held']);
  expect(registrations[0]!.passReference).toBe(single.body.responseData);
  expect(registrations[0]).not.toHaveProperty('partnerReference');
  expect(more).toBe(false);
  const first = await listed(`${query}&limit=3`);
  expect(first.more).toBe(true);
  const second = await listed(`${query}&limit=3&after=${first.cursor}`);
  expect([...first.registrations, ...second.registrations]).toEqual(registrations);
  await finalize();
  const changes = await listed('include=partnerReference');
  expect(changes.registrations.map(({ partnerReference }) => partnerReference)).toEqual([
    reference,
    reference,
    'another',
    null,
  ]);
  const stranger = new PartnerClient(given.api.baseUrl, await createFixture(given.database.db));
  const foreign = await stranger.request(`/api/v1/events/registrations?${query}`);
  expect(foreign.body.responseData).toMatchObject({ registrations: [] });
});
