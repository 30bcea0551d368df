import { grantEvent } from '@floodgate/events';
import { changeRegistrations, expireHolds, reconcile, reserveBatch } from '@floodgate/registrations';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ own: 'starts processes that work on everything in the database' });

test.override('ticket', { capacity: 1 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const codeOf = ({ body }: Answer) => body.responseCode;

async function hold(seconds = '60'): Promise<string> {
  const answer = await given.partner.register(attendee(given.ticketId), { 'hold-for': seconds });
  expect(codeOf(answer)).toBe('00');
  return String(answer.body.responseData);
}

async function stateOf(passReference: string): Promise<unknown> {
  return (await given.partner.registration(passReference)).body.responseData;
}

const finalize = () => finalizePending(given.database.db, given.gala.shardId);

/** Returns the kinds of the journal entries of the event's registrations. */
const told = async () =>
  (await journalOf(given.database.db, given.gala))
    .filter(({ serial }) => serial !== null)
    .map(({ kind }) => kind);

test('a seat is held: nobody else gets it, and nothing is told of it', async () => {
  const passReference = await hold();
  expect(codeOf(await given.partner.register(attendee(given.ticketId)))).toBe('32');
  await finalize();
  expect(await stateOf(passReference)).toMatchObject({
    state: 'held',
    dateFinalized: null,
    dateCancelled: null,
  });
  expect(await told()).toEqual([]);
});

test('what is confirmed is kept, whether it is finalized before or after, and told of once', async () => {
  await given.useTicket();
  const [early, late] = [await hold(), await hold('1800')];
  for (const passReference of [early, early])
    expect((await given.partner.confirm(passReference)).body).toMatchObject({
      responseCode: '00',
      responseData: passReference,
    });
  expect(await stateOf(early)).toMatchObject({ state: 'reserved' });
  await finalize();
  expect(await told()).toEqual(['confirmed']);
  for (let times = 0; times < 2; times++) expect(codeOf(await given.partner.confirm(late))).toBe('00');
  await finalize();
  expect(await told()).toEqual(['confirmed', 'confirmed']);
  await endHolds(given.database.db, given.gala);
  expect(await expireHolds(given.database.db, given.gala.shardId, 1_000)).toBe(0);
  for (const passReference of [early, late])
    expect(await stateOf(passReference)).toMatchObject({ state: 'confirmed' });
});

const EXPIRED = 'The hold has expired, and the registration is cancelled';

function expectRefused(answer: Answer, message: string): void {
  expectFailure(answer, '35', 409);
  expect(answer.body.responseMessage).toBe(message);
}

test('the seat goes back when the time is over: from then on it cannot be confirmed, and can be sold', async () => {
  const passReference = await hold();
  await finalize();
  await endHolds(given.database.db, given.gala);
  expectRefused(await given.partner.confirm(passReference), EXPIRED);
  expect(await stateOf(passReference)).toMatchObject({
    state: 'cancelled',
    dateCancelled: expect.any(String) as string,
  });
  const worker = await startWorkerProcess({
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
  });
  await waitUntil(
    'the seat is back',
    async () => codeOf(await given.partner.register(attendee(given.ticketId))) === '00',
  );
  expect(await worker.end(), worker.output()).toBe(0);
  expectRefused(await given.partner.confirm(passReference), EXPIRED);
  await finalize();
  expect(await told()).toContain('cancelled');
});

test('what is held can be cancelled at once', async () => {
  const passReference = await hold();
  expect(codeOf(await given.partner.cancel(passReference))).toBe('00');
  expectRefused(await given.partner.confirm(passReference), 'The registration is cancelled');
  expect(codeOf(await given.partner.register(attendee(given.ticketId)))).toBe('00');
  await endHolds(given.database.db, given.gala);
  expect(await expireHolds(given.database.db, given.gala.shardId, 1_000)).toBe(0);
});

test('what was never held is confirmed already', async () => {
  const passReference = String((await given.partner.register(attendee(given.ticketId))).body.responseData);
  expect(codeOf(await given.partner.confirm(passReference))).toBe('00');
  expectFailure(await given.partner.confirm(passReference.replace(/\d$/, 'x')), '34', 404);
});

test('a bulk call holds all of its seats', async () => {
  await given.useTicket({ capacity: 15 });
  const call = (headers: Record<string, string>) =>
    given.partner.request('/api/v1/events/register/bulk', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'a', ...headers },
      body: JSON.stringify({ registrations: [1, 2, 3].map(() => attendee(given.ticketId)), mode: 'all' }),
    });
  const answer = await call({ 'hold-for': '120' });
  const passes = (answer.body.responseData as Answer['body'][]).map(({ responseData }) =>
    String(responseData),
  );
  for (const passReference of passes) expect(await stateOf(passReference)).toMatchObject({ state: 'held' });
  expect((await call({ 'hold-for': '120' })).text).toBe(answer.text);
  // With another hold time, or without a hold, it is a different request.
  for (const headers of [{ 'hold-for': '121' }, {}]) expectFailure(await call(headers), '40', 422);
  await given.partner.confirm(passes[0]!);
  await endHolds(given.database.db, given.gala);
  await expireHolds(given.database.db, given.gala.shardId, 1_000);
  const states = await Promise.all(
    passes.map(async (one) => ((await stateOf(one)) as { state: string }).state),
  );
  expect(states).toEqual(['reserved', 'cancelled', 'cancelled']);
});

test('HOLD_LIMIT_SECONDS limits every kind of hold', async () => {
  const api = await startInProcessApi({ DATABASE_URL: given.database.url, HOLD_LIMIT_SECONDS: '120' });
  const partner = new PartnerClient(api.baseUrl, given.gala);
  const headers = { 'hold-for': '600' };
  await given.useTicket({ capacity: 10 });
  const organizedEventTicketID = given.ticketId;
  await partner.register(attendee(given.ticketId), headers);
  await partner.post('/register/bulk', { registrations: [attendee(given.ticketId)] }, headers);
  await partner.post('/holds', { tickets: [{ organizedEventTicketID, seats: 1 }] }, headers);
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from held_until - reserved_at)::float8 as seconds from registrations
    where ticket_id = ${given.ticketId}`.execute(given.db);
  expect(rows).toEqual([{ seconds: 120 }, { seconds: 120 }, { seconds: 120 }]);
  await api.close();
});

describe('a partner holds a share of a ticket at most', () => {
  const HOLD = { 'hold-for': '60' };

  beforeEach(async () => {
    // A fifth of it is two seats, but a share has at least four.
    await given.useTicket({ capacity: 14 });
  });

  test('beyond it a hold is refused, what is not held is registered, and others have a share of their own', async () => {
    const [first] = [await hold(), await hold(), await hold(), await hold()];
    const refused = await given.partner.register(attendee(given.ticketId), HOLD);
    expectFailure(refused, '37', 409);
    expect(refused.body.responseMessage).toBe('You can hold at most 4 seats of this ticket at a time');
    expect(codeOf(await given.partner.register(attendee(given.ticketId)))).toBe('00');
    expect(codeOf(await given.partner.register(attendee(await given.gala.addTicket()), HOLD))).toBe('00');
    const other = await createFixture(given.database.db);
    await grantEvent(given.database.db, other.partnerId, given.gala.eventId);
    const stranger = new PartnerClient(given.api.baseUrl, { ...other, eventRef: given.gala.eventRef });
    expect(codeOf(await stranger.register(attendee(given.ticketId), HOLD))).toBe('00');
    // The seat was not taken.
    const ticket = given.database.db.selectFrom('tickets').select('taken').where('id', '=', given.ticketId);
    expect(await ticket.executeTakeFirst()).toEqual({ taken: 6 });
    expect(await stateOf(first)).toMatchObject({ state: 'held' });
  });

  test('a refusal is remembered under its key', async () => {
    const keyed = { ...HOLD, 'idempotency-key': 'basket' };
    const held = [await hold(), await hold(), await hold(), await hold()];
    expectFailure(await given.partner.register(attendee(given.ticketId), keyed), '37', 409);
    await given.partner.cancel(held[0]!);
    const again = await given.partner.register(attendee(given.ticketId), keyed);
    expectFailure(again, '37', 409);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('under a test event as well', async () => {
    await given.useEvent({ mode: 'test' }, { capacity: 6 });
    for (let seat = 0; seat < 4; seat += 1) await hold();
    expectFailure(await given.partner.register(attendee(given.ticketId), HOLD), '37', 409);
  });

  test('however many ask at several APIs at the same time', async () => {
    await given.useTicket({ capacity: 100 });
    const others = await Promise.all(
      [1, 2].map(() => startInProcessApi({ DATABASE_URL: given.database.url, HOLD_SHARE_PERCENT: '7' })),
    );
    const callers = others.map(({ baseUrl }) => new PartnerClient(baseUrl, given.gala));
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => callers[index % 2]!.register(attendee(given.ticketId), HOLD)),
    );
    const codes = Map.groupBy(answers.map(codeOf), (code) => code);
    expect([...codes].map(([code, { length }]) => [code, length])).toEqual(
      expect.arrayContaining([
        ['00', 7],
        ['37', 53],
      ]),
    );
    for (const other of others) await other.close();
  });
});

test.each(['59', '604801', '60.5', '060', '', '1e2', '-60', '60, 60'])(
  'Hold-For: %s is refused',
  async (seconds) => {
    const answer = await given.partner.register(attendee(given.ticketId), { 'hold-for': seconds });
    expectFailure(answer, '11', 422);
    expect(answer.body.responseMessage).toBe('Hold-For: seconds, a whole number from 60 to 604800');
  },
);

test('who confirms in the moment in which the time ends has the seat or not, and never both', async () => {
  const many = 200;
  await given.useTicket({ capacity: many });
  const { shardId, partnerId, eventId } = given.gala;
  const reservations = Array.from({ length: many }, (_, index) =>
    reservationOf(given.gala, given.ticketId, { holdSeconds: 60, passCode: 4_000_000_000 + index }),
  );
  const outcomes = await reserveBatch(given.database.db, randomUUID(), reservations);
  await finalize();
  const seats = outcomes.flatMap((outcome) => (outcome.kind === 'registered' ? [outcome] : []));
  // The holds expire one after the other, a millisecond apart.
  const clock = await sql<{ now: number }>`select extract(epoch from now())::float8 as now`.execute(
    given.database.db,
  );
  await sql`
    update registrations
    set held_until = to_timestamp(${clock.rows[0]!.now}::float8 + (serial - ${seats[0]!.serial}::bigint) / 1000.0)
    where shard_id = ${shardId} and ticket_id = ${given.ticketId}`.execute(given.database.db);
  let expired = 0;
  const expire = async () => {
    while ((await heldLeft()) > 0) expired += await expireHolds(given.database.db, shardId, 7);
  };
  const heldLeft = async () => {
    const { rows } = await sql<{ left: number }>`
      select count(*)::integer as left from registrations
      where shard_id = ${shardId} and ticket_id = ${given.ticketId} and held_until < 'infinity' and cancelled_at is null`.execute(
      given.database.db,
    );
    return rows[0]!.left;
  };
  const confirm = async () => {
    const kept: (string | null)[] = [];
    // Starts from the last hold, so that it meets the expiry in the middle.
    for (const { serial, passCode } of seats.toReversed())
      kept.push(
        ...(await changeRegistrations(given.database.db, shardId, 'confirmed', [
          { partnerId, eventId, serial, passCode },
        ])),
      );
    return kept;
  };
  const [kept] = await Promise.all([confirm(), expire()]);
  const confirmed = kept.filter((outcome) => outcome === 'confirmed').length;
  expect(new Set(kept)).toEqual(new Set(['confirmed', 'too-late']));
  expect(confirmed + expired).toBe(many);
  await finalize();
  const journal = await told();
  expect(journal.filter((kind) => kind === 'confirmed')).toHaveLength(confirmed);
  expect(journal).toHaveLength(many);
  const ticket = given.database.db.selectFrom('tickets').select('taken').where('id', '=', given.ticketId);
  expect(await ticket.executeTakeFirst()).toEqual({ taken: confirmed });
});

test('a ticket that a transaction keeps locked does not stop the expiry of the others', async () => {
  const { shardId } = given.gala;
  const locked = given.ticketId;
  await hold();
  await given.useTicket({ capacity: 1 });
  const free = await hold();
  await endHolds(given.database.db, given.gala);
  // The holds of the locked ticket expire first.
  await sql`
    update registrations set held_until = '2026-01-01T00:00:00Z'
    where shard_id = ${shardId} and ticket_id = ${locked}`.execute(given.database.db);
  await using server = await given.database.openShard(shardId);
  const expire = () => expireHolds(given.database.db, shardId, 1_000);
  const expired = await server.transaction().execute(async (forgotten) => {
    const row = forgotten.selectFrom('tickets').select('id').where('shard_id', '=', shardId);
    await row.where('id', '=', locked).forUpdate().execute();
    return expire();
  });
  expect(expired).toBe(1);
  expect(await stateOf(free)).toMatchObject({ state: 'cancelled' });
  expect(await expire()).toBe(1);
});

test('who has confirmed in time, and commits a moment late, keeps the seat', async () => {
  const { shardId, partnerId, eventId } = given.gala;
  const [seat] = await reserveBatch(given.database.db, randomUUID(), [
    reservationOf(given.gala, given.ticketId, { holdSeconds: 60 }),
  ]);
  if (seat?.kind !== 'registered') throw new Error('no seat');
  const { serial, passCode } = seat;
  await sql`
    update registrations set held_until = to_timestamp(${Date.now() / 1_000 + 1}::float8)
    where shard_id = ${shardId} and serial = ${serial}`.execute(given.database.db);
  await using server = await given.database.openShard(shardId);
  const late = await server.startTransaction().execute();
  expect(
    await changeRegistrations(late, shardId, 'confirmed', [{ partnerId, eventId, serial, passCode }]),
  ).toEqual(['confirmed']);
  await waitUntil('the time is over', async () => {
    const { rows } = await sql<{ isOver: boolean }>`
      select held_until <= clock_timestamp() as "isOver" from registrations
      where shard_id = ${shardId} and serial = ${serial}`.execute(given.database.db);
    return rows[0]!.isOver;
  });
  const expired = expireHolds(given.database.db, shardId, 1_000);
  await waitForLockWaiters(given.database.db, 1);
  await late.commit().execute();
  expect(await expired).toBe(0);
  const row = tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('cancelled_at')
    .where('shard_id', '=', shardId);
  expect(await row.where('serial', '=', serial).executeTakeFirst()).toEqual({ cancelled_at: null });
  const ticket = given.database.db.selectFrom('tickets').select('taken').where('id', '=', given.ticketId);
  expect(await ticket.executeTakeFirst()).toEqual({ taken: 1 });
});
