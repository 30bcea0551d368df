import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  checkRegistration,
  createClient,
  type ClientOptions,
  type FloodgateClient,
  type ListOptions,
  type RegisterResult,
  type Retry,
} from '@floodgate/client';
import { PERSON_EXAMPLES } from '@floodgate/contract';
import { limitPartner } from '@floodgate/partners';
import { confirmBatches, leaseDueBatches, reconcile } from '@floodgate/registrations';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, afterEach, expect } from 'vitest';
import { anyBody } from '../harness/drawn-fields.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startAnsweringProxy, type Instead } from './answering-proxy.ts';
import { apiTest } from '../harness/api-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ own: 'counts, empties or compares whole tables' });

// The client against a real API, over a wire that can be cut.

test.override('ticket', { capacity: 100_000 });

let wire: TcpProxy;
let opened: FloodgateClient[] = [];

test.beforeAll(async () => {
  wire = await TcpProxy.start(given.api.baseUrl);
});

afterAll(async () => {
  await wire.stop();
});

afterEach(async () => {
  wire.setMode('pass');
  await Promise.all(opened.map((client) => client.close()));
  opened = [];
});

function open(differing: Partial<ClientOptions> = {}): FloodgateClient {
  const { secretKey, eventRef } = given.gala;
  const client = createClient({
    baseUrl: wire.through(given.api.baseUrl),
    secretKey,
    eventRef,
    ...differing,
  });
  opened.push(client);
  return client;
}

const guest = (index = 0, ticket = given.ticketId) => ({
  fullName: 'Jane Doe',
  emailAddress: `guest${index}@example.com`,
  organizedEventTicketID: ticket,
  extraData1: `${index}`,
});

const guests = (count: number) => Array.from({ length: count }, (_, index) => guest(index));

/** The pass reference of a registration. */
function passOf(result: RegisterResult): string {
  if (result.code !== '00') throw new Error(`answered ${result.code}`);
  return result.passReference;
}

/** How many registrations of the event each call asked for: those of bulk calls, then 1 for each single one. */
async function callSizes(): Promise<number[]> {
  const { rows } = await sql<{ size: number }>`
    select cardinality(serials) as size
    from idempotency_keys where event_id = ${given.gala.eventId} order by 1 desc`.execute(given.database.db);
  return rows.map(({ size }) => size);
}

/** The attendees of the event that are stored, each as often as it is. */
async function stored(): Promise<number[]> {
  const rows = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('extra_data_1 as index')
    .where('ticket_id', '=', given.ticketId)
    .execute();
  return rows.map(({ index }) => Number(index)).toSorted((a, b) => a - b);
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('a lone registration goes as a single call, and is answered by its pass reference', async () => {
  await using proxy = await startAnsweringProxy(given.api.baseUrl, []);
  const result = await open({ baseUrl: proxy.baseUrl }).register(guest());
  expect(result).toEqual({
    code: '00',
    message: 'Successful',
    passReference: expect.stringMatching(/^GALA-/) as string,
    requestId: expect.any(String) as string,
  });
  expect(proxy.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([guest()]);
});

test('registrations of one turn go as one bulk call, each answered as itself', async () => {
  const client = open();
  const few = await given.gala.addTicket({ capacity: 1 });
  const wanted = [guest(0), guest(1, few), guest(2, few), guest(3, 999_999_999), guest(4)];
  wanted.push({ ...guest(5), emailAddress: 'nobody' });
  const results = await Promise.all(wanted.map((one) => client.register(one)));
  expect(results.map(({ code }) => code)).toEqual(['00', '00', '32', '30', '00', '11']);
  expect(results[5]).toMatchObject({
    message: expect.stringContaining('emailAddress') as string,
    invalidFields: [{ field: 'emailAddress', rule: 'format' }],
  });
  const { registration } = (await client.registration(passOf(results[1]!))) as never;
  expect(registration).toMatchObject({ organizedEventTicketID: few });
  expect(await callSizes()).toEqual([5]);
});

test('a call holds a thousand registrations, and less than 1 MiB', async () => {
  const client = open({ callsInFlight: 1 });
  await Promise.all(guests(2_300).map((one) => client.register(one)));
  expect(await callSizes()).toEqual([1_000, 1_000, 300]);
  const long = guests(600).map((one) => ({ ...one, extraData2: 'ä'.repeat(1_000) }));
  const results = await Promise.all(long.map((one) => client.register(one)));
  expect(new Set(results.map(({ code }) => code))).toEqual(new Set(['00']));
  const sizes = (await callSizes()).filter((size) => size !== 1_000 && size !== 300);
  expect(sizes).toHaveLength(2);
  expect(sizes[0]! + sizes[1]!).toBe(600);
});

test('what is too long for a single call goes alone, and its neighbours are registered', async () => {
  const client = open();
  const long = { ...guest(1), extraData2: 'x'.repeat(40_000) };
  const results = await Promise.all([guest(0), long, guest(2)].map((one) => client.register(one)));
  expect(results.map(({ code }) => code)).toEqual(['00', '10', '00']);
});

test('while the most calls are open, new registrations wait and are sent together', async () => {
  const client = open({ callsInFlight: 1 });
  const held = await holdTicket(given.database.db, given.ticketId);
  const first = client.register(guest(0));
  await held.waiters(1);
  const others = [];
  for (let index = 1; index <= 20; index += 1) {
    others.push(client.register(guest(index)));
    await yieldToEventLoop();
  }
  await held.release();
  await Promise.all([first, ...others]);
  expect(await callSizes()).toEqual([20, 1]);
});

test('automatic batching can be switched off', async () => {
  const client = open({ autoBatch: false });
  await Promise.all(guests(20).map((one) => client.register(one)));
  expect(await callSizes()).toEqual(Array.from({ length: 20 }, () => 1));
});

test('a key of the caller’s goes alone, and names the registration for ever', async () => {
  const client = open();
  const options = { idempotencyKey: 'order-1' };
  const [first, other] = await Promise.all([client.register(guest(1), options), client.register(guest(2))]);
  expect(passOf(await client.register(guest(1), options))).toBe(passOf(first));
  expect(passOf(other)).not.toBe(passOf(first));
  expect((await client.register(guest(3), options)).code).toBe('40');
  expect(await stored()).toEqual([1, 2]);
});

test('a lost answer of an automatic bulk call is asked for with the same key and list', async () => {
  const client = open({ callsInFlight: 1 });
  for (let round = 0; round < 5; round += 1) {
    wire.setMode('cut-next-answer');
    const wanted = upTo(50).map((index) => guest(50 * round + index));
    const results = await Promise.all(wanted.map((one) => client.register(one)));
    expect(new Set(results.map(passOf)).size).toBe(50);
  }
  expect(await stored()).toEqual(upTo(250));
  expect(await reconcile(given.database.db)).toEqual([]);
});

test('lost answers of single calls register nobody twice', async () => {
  const client = open({ autoBatch: false, connections: 4 });
  const all = guests(1_000);
  const results: RegisterResult[] = [];
  for (let round = 0; round < 10; round += 1) {
    // The first answer of the round is cut.
    wire.setMode('cut-next-answer');
    const calls = all.slice(round * 100, (round + 1) * 100).map((one) => client.register(one));
    results.push(...(await Promise.all(calls)));
    expect(wire.mode).toBe('pass');
  }
  expect(new Set(results.map(passOf)).size).toBe(1_000);
  expect(await stored()).toEqual(upTo(1_000));
});

test('a service that is away is waited for', async () => {
  const client = open();
  wire.setMode('down');
  const results = Promise.all(guests(10).map((one) => client.register(one)));
  const before = wire.accepted;
  await waitUntil('it was tried again', () => wire.accepted > before + 1);
  wire.setMode('pass');
  expect((await results).map(({ code }) => code)).toEqual(Array.from({ length: 10 }, () => '00'));
});

/** Asks again until it is known. */
async function decide(result: RegisterResult): Promise<RegisterResult> {
  return result.code === 'unknown' ? decide(await result.askAgain()) : result;
}

test('without an answer in time it is unknown, and can be asked again: registered once', async () => {
  const client = open({ answerWithinMs: 3_000, attemptWithinMs: 1_000 });
  wire.setMode('swallow-answers');
  const results = await Promise.all(guests(3).map((one) => client.register(one)));
  expect(results.map(({ code }) => code)).toEqual(['unknown', 'unknown', 'unknown']);
  await waitUntil('the call was carried out all the same', async () => (await stored()).length === 3);
  wire.setMode('pass');
  const passes = (await Promise.all(results.map(decide))).map(passOf);
  expect(await stored()).toEqual([0, 1, 2]);
  const states = await Promise.all(passes.map((pass) => open().registration(pass)));
  expect(states.map(({ code }) => code)).toEqual(['00', '00', '00']);
});

test('a partner’s limit makes the automatic bulk calls smaller, and all are registered', async () => {
  await limitPartner(given.database.db, given.gala.partnerId, 20);
  const client = open();
  const results = await Promise.all(guests(60).map((one) => client.register(one)));
  expect(new Set(results.map(({ code }) => code))).toEqual(new Set(['00']));
  expect(await stored()).toEqual(upTo(60));
  expect(Math.max(...(await callSizes()))).toBeLessThanOrEqual(20);
});

test('refusals are results', async () => {
  const results = await Promise.all([
    open({ secretKey: 'fg_wrong' }).register(guest()),
    open({ eventRef: 'none' }).tickets(),
    open().registration('GALA-1-1-1000000000'),
    open().registerBulk([]),
    open({ baseUrl: `${given.api.baseUrl}/elsewhere` }).launch(),
  ]);
  expect(results.map(({ code }) => code)).toEqual(['20', '12', '34', '11', 'other']);
  expect(results[3]).toMatchObject({ invalidFields: [{ field: 'registrations', rule: 'minItems' }] });
  expect(results[4]).toMatchObject({ responseCode: '60', status: 404 });
});

test('a bulk call of the caller’s: all or none, and once for its key', async () => {
  const client = open();
  const few = await given.gala.addTicket({ capacity: 1 });
  const group = [guest(0), guest(1, few), guest(2, few)];
  const refused = await client.registerBulk(group, { mode: 'all' });
  expect(refused.code === '00' && refused.registrations.map(({ code }) => code)).toEqual(['36', '36', '32']);
  const options = { idempotencyKey: 'group-1' };
  const first = await client.registerBulk(guests(3), options);
  const second = await client.registerBulk(guests(3), options);
  expect(first).toMatchObject({
    code: '00',
    registrations: [{ code: '00' }, { code: '00' }, { code: '00' }],
  });
  expect(second).toEqual({
    ...first,
    requestId: expect.any(String) as string,
    registrations: expect.anything() as never,
  });
  expect(await stored()).toEqual([0, 1, 2]);
});

test('tickets and launch', async () => {
  const client = open();
  expect(await client.tickets()).toMatchObject({
    code: '00',
    tickets: [{ id: given.ticketId, count: 100_000 }],
  });
  const ids: number[] = [];
  for await (const { id } of client.eachTicket()) ids.push(id);
  expect(ids).toEqual([given.ticketId]);
  expect(await client.launch()).toMatchObject({ code: '00', launch: { phase: 'open', seatsLeft: 100_000 } });
});

/** Finalizes all that is pending, those of the tests before included, as a worker does. */
async function finalize(): Promise<void> {
  const { shardId } = given.gala;
  await waitUntil('all is finalized', async () => {
    const { numUpdatedRows } = await tablesOf(given.database.db)
      .updateTable('batches')
      .set({ relay_at: sql`now()` })
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow();
    const batchIds = await leaseDueBatches(given.database.db, shardId, 1_000);
    await confirmBatches(given.database.db, { shardId, batchIds });
    return numUpdatedRows === 0n;
  });
}

test('the list of registrations is read to its end, and on from its cursor', async () => {
  const client = open();
  const listing = client.registrations({ pageSize: 2 });
  const collect = async (options: ListOptions) => {
    const passes: string[] = [];
    for await (const { passReference } of client.registrations(options)) passes.push(passReference);
    return passes;
  };
  const first = (await Promise.all(guests(5).map((one) => client.register(one)))).map(passOf);
  await finalize();
  const seen: string[] = [];
  for await (const { passReference, state } of listing) {
    expect(state).toBe('confirmed');
    seen.push(passReference);
    // In the middle of the second page: that one comes again.
    if (seen.length === 3) break;
  }
  const { cursor } = listing;
  expect([...seen.slice(0, 2), ...(await collect({ after: cursor }))]).toEqual(first);
  let end: string | undefined;
  const sizes: number[] = [];
  for await (const page of client.registrations({ pageSize: 2 }).pages()) {
    sizes.push(page.registrations.length);
    end = page.cursor;
  }
  expect(sizes).toEqual([2, 2, 1]);
  const last = passOf(await client.register(guest(5)));
  await finalize();
  expect(await collect({ after: end })).toEqual([last]);
  expect(await collect({ state: 'cancelled' })).toEqual([]);
});

test('a basket is held, extended, released in part and confirmed, and found by its reference', async () => {
  const client = open();
  const tickets = [{ organizedEventTicketID: given.ticketId, seats: 3 }];
  const made = await client.holds.create({ tickets, partnerReference: 'order-1' }, { holdForSeconds: 60 });
  if (made.code !== '00') throw new Error(made.code);
  const { holdReference, seats, dateExpires } = made.hold;
  const extended = await client.holds.extend(holdReference, 120);
  if (extended.code !== '00') throw new Error(extended.code);
  expect(Date.parse(extended.hold.dateExpires!)).toBeGreaterThan(Date.parse(dateExpires!));
  const released = await client.holds.release(holdReference, [seats[0]!.passReference]);
  expect(released).toMatchObject({ code: '00', hold: { state: 'held' } });
  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  const confirmed = await client.holds.confirm(holdReference, { contact });
  expect(confirmed).toMatchObject({ code: '00', hold: { state: 'confirmed' } });
  expect(await client.holds.get(holdReference)).toMatchObject({ hold: { partnerReference: 'order-1' } });
  expect(await client.holds.get(randomUUID())).toMatchObject({ code: '34' });
  const found = [];
  const query = { partnerReference: 'order-1', include: 'partnerReference' } as const;
  for await (const one of client.registrations(query)) found.push([one.state, one.partnerReference]);
  expect(found).toEqual(['cancelled', 'reserved', 'reserved'].map((state) => [state, 'order-1']));
});

test('a contact waits for a ticket that is sold out, accepts an offer, and declines one', async () => {
  const client = open();
  const list = await given.gala.addTicket({ capacity: 2, offerHours: 24 });
  passOf(await client.register(guest(2, list)));
  const contact = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };
  const request = { organizedEventTicketID: list, contact };
  expect(await client.waitingList.join(request)).toMatchObject({ code: '38' });
  const sold = passOf(await client.register(guest(0, list)));
  // The same call with the same key is the same entry, also if an answer is lost.
  const options = { idempotencyKey: randomUUID() };
  const joined = await client.waitingList.join(request, options);
  if (joined.code !== '00') throw new Error(joined.code);
  const { entry, state } = joined.waitingEntry;
  expect(state).toBe('waiting');
  expect(await client.waitingList.join(request, options)).toMatchObject({ waitingEntry: { entry } });
  const next = await client.waitingList.join(request);
  await client.cancel(sold);
  expect(await client.waitingList.get(entry)).toMatchObject({ waitingEntry: { state: 'offered' } });
  const accepted = await client.holds.confirm(entry, { contact });
  expect(accepted).toMatchObject({ code: '00', hold: { holdReference: entry } });
  if (accepted.code !== '00' || next.code !== '00') throw new Error(accepted.code);
  await client.cancel(accepted.hold.seats[0]!.passReference);
  const left = await client.waitingList.leave(next.waitingEntry.entry);
  expect(left).toMatchObject({ code: '00', waitingEntry: { state: 'left' } });
  expect(await client.waitingList.leave(entry)).toMatchObject({ code: '35' });
  expect(await client.waitingList.get(randomUUID())).toMatchObject({ code: '34' });
  expect(await client.register(guest(1, list))).toMatchObject({ code: '00' });
});

test('a seat is held, confirmed and cancelled', async () => {
  const client = open();
  const passReference = passOf(await client.register(guest(0), { holdForSeconds: 60 }));
  const stateOf = async () => {
    const result = await client.registration(passReference);
    return result.code === '00' ? result.registration.state : result.code;
  };
  expect(await stateOf()).toBe('held');
  expect(await client.confirm(passReference)).toMatchObject({ code: '00', passReference });
  expect(await stateOf()).toBe('reserved');
  const joe = { fullName: 'Joe', emailAddress: 'joe@example.com' };
  const other = await client.changeAttendee(passReference, joe);
  expect(other).toMatchObject({ code: '00', passReference: expect.not.stringContaining(passReference) });
  // The seat is that of the other attendee now.
  expect(await client.cancel(passReference)).toMatchObject({ code: '35' });
  expect(await stateOf()).toBe('cancelled');
  const { passReference: current } = other as { passReference: string };
  expect(await client.cancel(current)).toMatchObject({ code: '00' });
  expect(await client.confirm(passReference)).toMatchObject({ code: '35' });
  const bulk = await client.registerBulk([guest(1), guest(2)], { mode: 'all', holdForSeconds: 1_800 });
  const passes =
    bulk.code === '00'
      ? bulk.registrations.map((one) => (one.code === '00' ? one.passReference : one.code))
      : [];
  const states = await Promise.all(passes.map((pass) => client.registration(pass)));
  expect(states).toMatchObject([1, 2].map(() => ({ registration: { state: 'held' } })));
  for (const holdForSeconds of [59, 604_801, 60.5])
    await expect(client.register(guest(3), { holdForSeconds })).rejects.toThrow('holdForSeconds');
});

test('under a test event it gets what an address asks for, and begins anew', async () => {
  await given.useEvent({ mode: 'test' }, {});
  const client = open();
  const provoke = (code: string) => {
    const one = { ...guest(0), emailAddress: `code-${code}@floodgate.invalid` };
    return client.register(one, { idempotencyKey: `provoked-${code}` });
  };
  expect(await provoke('32')).toMatchObject({ code: '32' });
  // It asks again, with the same key.
  expect(await provoke('91')).toMatchObject({ code: '00' });
  passOf(await client.register(guest(1)));
  expect(await client.reset()).toMatchObject({ code: '00', reset: { cancelled: 2, more: false } });
});

test('a live event is not reset', async () => {
  const client = open();
  passOf(await client.register(guest(0)));
  expect(await client.reset()).toMatchObject({ code: '60', message: 'Only a test event can be reset' });
});

test('a list that is refused throws, by its code and without the key', async () => {
  const client = open({ secretKey: 'fg_wrong' });
  const listing = client.registrations()[Symbol.asyncIterator]();
  const error = await listing.next().catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ name: 'FloodgateError', code: '20' });
  await expect(client.eachTicket().next()).rejects.toMatchObject({ code: '20' });
});

test('an abort takes out what waits, and ends the waiting for what was sent', async () => {
  const client = open({ callsInFlight: 1 });
  const held = await holdTicket(given.database.db, given.ticketId);
  const abort = new AbortController();
  const { signal } = abort;
  const sent = client.register(guest(0), { signal });
  await held.waiters(1);
  const ends = [sent, client.register(guest(1), { signal }), client.register(guest(2))].map((end) =>
    end.then(
      ({ code }) => code,
      (error: Error) => error.message,
    ),
  );
  abort.abort(new Error('enough'));
  await held.release();
  expect(await Promise.all(ends)).toEqual(['enough', 'enough', '00']);
  await client.close();
  expect(await stored()).toEqual([0, 2]);
  await expect(open().launch({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
});

test('close waits for what was begun, and refuses what comes after', async () => {
  const client = open();
  const results = guests(10).map((one) => client.register(one));
  await client.close();
  expect((await Promise.all(results)).map(passOf)).toHaveLength(10);
  await expect(client.register(guest(11))).rejects.toThrow('the client is closed');
});

test.each<[string, Partial<ClientOptions>]>([
  ['baseUrl', { baseUrl: 'floodgate.example.com' }],
  ['secretKey', { secretKey: 'fg_a\r\nx-evil: 1' }],
  ['eventRef', { eventRef: '' }],
  ['answerWithinMs', { answerWithinMs: 0 }],
  ['callsInFlight', { callsInFlight: 1.5 }],
  ['onRetry', { onRetry: 'log' as never }],
])('a wrong %s is refused, and not repeated', (name, differing) => {
  const value = String(Object.values(differing)[0]);
  expect(() => open(differing)).toThrow(new RegExp(`^${name} must`));
  expect(() => open(differing)).not.toThrow(value === '' ? 'fg_' : value);
});

test('a key that the service would not take is refused at once', async () => {
  await expect(open().register(guest(), { idempotencyKey: 'two words' })).rejects.toThrow('idempotencyKey');
});

// What this service answers seldom, a newer one would, or a proxy.

const says = (status: number, code: string, headers = {}): Instead => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ responseCode: code, responseMessage: `says ${code}`, responseData: null }),
});
const page = (status: number): Instead => ({ status, body: '<html>' });

test.each<[string, Instead[]]>([
  ['41', [says(409, '41')]],
  ['50', [says(429, '50', { 'retry-after': '1' })]],
  ['90', [says(503, '90')]],
  ['91', [says(503, '91')]],
  ['99', [says(500, '99'), says(500, '99')]],
  ['a lost answer', ['cut']],
  ['a page of a proxy', [page(502), page(504)]],
  ['half an answer', [{ status: 200, body: '{"responseCode":"0' }]],
])('after %s the same request is sent again with the same key', async (_what, instead) => {
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [...instead]);
  const client = open({ baseUrl: proxy.baseUrl });
  expect((await client.register(guest())).code).toBe('00');
  expect(proxy.requests).toHaveLength(instead.length + 1);
  expect(new Set(proxy.requests.map((request) => JSON.stringify(request))).size).toBe(1);
  await Promise.all([1, 2].map((index) => client.register(guest(index))));
  expect(await stored()).toEqual([0, 1, 2]);
  await client.close();
});

test('a call that can never pass is not repeated', async () => {
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [says(429, '50'), says(429, '50')]);
  const client = open({ baseUrl: proxy.baseUrl });
  const request = { tickets: [{ organizedEventTicketID: given.ticketId, seats: 20 }] };
  expect(await client.holds.create(request)).toMatchObject({ code: '50' });
  expect(await client.register(guest(), { idempotencyKey: 'alone' })).toMatchObject({ code: '50' });
  expect(proxy.requests).toHaveLength(2);
  await client.close();
});

test('onRetry is called before each retry, and what it throws is ignored', async () => {
  const instead = [
    says(429, '50', { 'retry-after': '1', 'x-request-id': 'request-50' }),
    page(502),
    'cut',
  ] as const;
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [...instead]);
  const retries: Retry[] = [];
  const onRetry = (retry: Retry) => {
    retries.push(retry);
    throw new Error('the log is full');
  };
  const client = open({ baseUrl: proxy.baseUrl, onRetry });
  expect((await client.register(guest(), { idempotencyKey: 'order-1' })).code).toBe('00');
  const request = { method: 'POST', path: '/api/v1/events/register', idempotencyKey: 'order-1' };
  expect(retries).toEqual(
    ['50', 'HTTP status 502', 'UND_ERR_SOCKET'].map((code, index) => ({
      code,
      attempt: index + 1,
      delayMs: expect.any(Number) as number,
      requestId: code === '50' ? 'request-50' : null,
      request,
    })),
  );
  expect(retries[0]!.delayMs).toBeGreaterThanOrEqual(1_000);
  expect(inspect(retries)).not.toContain('guest0');
  await client.close();
});

test('Retry-After is waited for', async () => {
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [says(503, '90', { 'retry-after': '1' })]);
  const client = open({ baseUrl: proxy.baseUrl });
  let isOver = false;
  // time: a lower bound only. Timers of one process fire in their order.
  setTimeout(() => (isOver = true), 990);
  await client.register(guest());
  expect(isOver).toBe(true);
  await client.close();
});

test('what would have to be waited for beyond the deadline is answered at once, by what is known', async () => {
  const later = says(503, '90', { 'retry-after': '30' });
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [later, 'cut', later, later, page(404)]);
  const client = open({ baseUrl: proxy.baseUrl, answerWithinMs: 5_000 });
  expect(await client.register(guest(1))).toMatchObject({ code: '90' });
  // It was carried out before its answer was lost: that "nothing was reserved" is not said of that.
  const idempotencyKey = 'lost-then-refused';
  const lost = await client.register(guest(2), { idempotencyKey });
  expect(lost).toMatchObject({ code: 'unknown', reason: 'answered 90', idempotencyKey });
  expect(await stored()).toEqual([2]);
  const again = lost.code === 'unknown' ? await lost.askAgain() : lost;
  expect(again).toMatchObject({ code: 'unknown', reason: 'answered 90' });
  expect(await client.launch()).toMatchObject({ code: 'other', responseCode: null, status: 404 });
  expect(again.code === 'unknown' && (await again.askAgain()).code).toBe('00');
  expect(await stored()).toEqual([2]);
  await client.close();
});

test('an unexpected error is retried until the deadline, as an overload is', async () => {
  const error = says(500, '99', { 'x-request-id': 'request-99' });
  const last = says(500, '99', { 'x-request-id': 'request-99', 'retry-after': '30' });
  const unexpected = [...Array.from({ length: 4 }, () => error), last];
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [...unexpected, last]);
  const client = open({ baseUrl: proxy.baseUrl, answerWithinMs: 25_000 });
  const requestId = 'request-99';
  const idempotencyKey = 'unexpected';
  expect(await client.register(guest(), { idempotencyKey })).toMatchObject({
    code: 'unknown',
    reason: 'answered 99',
    requestId,
  });
  expect(proxy.requests).toHaveLength(5);
  expect(await client.tickets()).toMatchObject({ code: '99', requestId });
  await client.close();
});

test('what checkRegistration refuses, the service refuses with the same words, and nothing else', async () => {
  const property = fc.asyncProperty(anyBody, async ({ body }) => {
    const told = checkRegistration(body as never);
    const headers = { 'x-error-details': 'json' };
    const answer = await given.partner.register(body, headers);
    const message = [...new Set(told.map(({ message: sentence }) => sentence))];
    const { responseCode, responseMessage } = answer.body;
    expect(responseCode === '11' ? responseMessage.split('; ').toSorted() : []).toEqual(message.toSorted());
    const listed = JSON.parse(answer.headers.get('x-invalid-fields') ?? '[]') as object[];
    const named = told.map(({ field, rule }) => ({ field, rule }));
    expect(named).toEqual(expect.arrayContaining(listed));
    expect(listed).toHaveLength(named.length);
  });
  await fc.assert(property, { numRuns: 200 });
  for (const { field, sent, stored: accepted } of PERSON_EXAMPLES) {
    const refused = checkRegistration({ ...guest(), [field]: sent });
    expect([sent, refused.length > 0]).toEqual([sent, accepted === undefined]);
  }
});

test.for([null, undefined, [], 'text', 7])('checkRegistration does not throw at %o', (value) => {
  expect(checkRegistration(value as never)).toEqual([
    { field: '', rule: 'type', message: 'The body must be a JSON object' },
  ]);
});

test('a code of a newer service is handed on', async () => {
  await using proxy = await startAnsweringProxy(given.api.baseUrl, [says(409, '77')]);
  const client = open({ baseUrl: proxy.baseUrl });
  expect(await client.register(guest())).toMatchObject({
    code: 'other',
    responseCode: '77',
    message: 'says 77',
  });
  await client.close();
});

test('nobody listens: unknown, by the reason', async () => {
  const client = open({ baseUrl: 'http://127.0.0.1:1', answerWithinMs: 500 });
  expect(await client.launch()).toEqual({ code: 'unknown', reason: 'ECONNREFUSED', requestId: null });
  const told = inspect([client, await client.register(guest())], { depth: 9, showHidden: true });
  expect(told).toContain('ECONNREFUSED');
  for (const secret of [given.gala.secretKey, 'guest0@example.com']) expect(told).not.toContain(secret);
});
