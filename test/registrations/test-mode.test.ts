import { randomUUID } from 'node:crypto';
import { BULK_ITEM_FAILURES, type FailureCode } from '@floodgate/contract';
import { createEvent, grantEvent } from '@floodgate/events';
import { issueKey, listKeys, parseSecretKey } from '@floodgate/partners';
import { readJournal } from '@floodgate/journal';
import { reconcile } from '@floodgate/registrations';
import { createTicket } from '@floodgate/tickets';
import { sql } from 'kysely';
import { afterAll, describe, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { operationsOf, readDocument } from '../harness/contract-document.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';
import { runCli } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ own: 'draws operations, and compares whole tables' });

// Test keys and test events.

test.override('event', { mode: 'test' });
test.override('ticket', {});

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const codeOf = ({ body }: Answer) => body.responseCode;
const codesOf = ({ body }: Answer) =>
  (body.responseData as Answer['body'][]).map((item) => item.responseCode);
const addressOf = (code: string) => `code-${code}@floodgate.invalid`;
const provoking = (code: string) => attendee(given.ticketId, { emailAddress: addressOf(code) });
const keyed = () => ({ 'idempotency-key': randomUUID() });

async function taken(id = given.ticketId): Promise<number> {
  const { rows } = await sql<{ taken: number }>`select taken from tickets where id = ${id}`.execute(
    given.database.db,
  );
  return rows[0]!.taken;
}

/** Returns the codes that the contract lists for an operation. */
function codesFor(operationId: string): FailureCode[] {
  const operation = operationsOf(readDocument()).find((one) => one.operationId === operationId)!;
  const text = JSON.stringify(operation.responses);
  const codes = Array.from(text.matchAll(/"code(\d\d)":/g), ([, code]) => code as FailureCode);
  return [...new Set(codes)].filter((code) => (code as string) !== '00');
}

const SINGLE = codesFor('registerForEvent');
const OF_CALL = codesFor('registerInBulk').filter((code) => code !== '11');

describe('an address under a test event', () => {
  test('there are all that the contract names', () => {
    expect(SINGLE.toSorted()).toEqual('10 11 12 20 21 30 31 32 33 37 40 41 50 90 91 99'.split(' '));
    expect(OF_CALL.toSorted()).toEqual('10 12 20 21 40 41 50 90 91 99'.split(' '));
  });

  test('provokes each code; 91 alone reserves a seat', async () => {
    for (const code of SINGLE) expectFailure(await given.partner.register(provoking(code)), code);
    expect(await taken()).toBe(1);
  });

  test('provokes it whatever its case, with a tag, and again with the same key', async () => {
    const headers = keyed();
    for (const emailAddress of ['CODE-32@Floodgate.INVALID', 'code-32+a.b+c@floodgate.invalid'])
      for (const _ of [1, 2])
        expectFailure(
          await given.partner.register(attendee(given.ticketId, { emailAddress }), headers),
          '32',
        );
  });

  test('is an ordinary one if it names no code of this call', async () => {
    for (const name of ['code-00', 'code-34', 'code-36', 'code-77', 'code-3', 'xcode-32', 'code-321']) {
      const emailAddress = `${name}@floodgate.invalid`;
      const answer = await given.partner.register(attendee(given.ticketId, { emailAddress }));
      expect([name, codeOf(answer)]).toEqual([name, '00']);
    }
  });

  test('loses the answer that a seat was reserved (91): the same key once more is answered 00', async () => {
    const headers = keyed();
    expectFailure(await given.partner.register(provoking('91'), headers), '91');
    const again = await given.partner.register(provoking('91'), headers);
    expect([codeOf(again), again.headers.get('idempotent-replayed')]).toEqual(['00', 'true']);
    expect(await taken()).toBe(1);
  });

  test('loses no other answer', async () => {
    await given.useTicket({ capacity: 0 });
    expectFailure(await given.partner.register(provoking('91')), '32');
  });
});

describe('an address in a bulk call under a test event', () => {
  test('provokes each code in its place', async () => {
    const call = BULK_ITEM_FAILURES.flatMap((code) => [attendee(given.ticketId), provoking(code)]);
    const answer = await given.partner.registerBulk(call);
    expect(codesOf(answer)).toEqual(BULK_ITEM_FAILURES.flatMap((code) => ['00', code]));
    expect(await taken()).toBe(BULK_ITEM_FAILURES.length);
  });

  test('refuses the whole group by each code', async () => {
    for (const code of BULK_ITEM_FAILURES) {
      const group = [attendee(given.ticketId), provoking(code)];
      expect(codesOf(await given.partner.registerBulk(group, 'all', keyed()))).toEqual(['36', code]);
    }
    expect(await taken()).toBe(0);
  });

  test('provokes several at once, and each of a call has its own answer', async () => {
    const call = ['30', '31', '00', '33', '00'].map(provoking);
    expect(codesOf(await given.partner.registerBulk(call))).toEqual(['30', '31', '00', '33', '00']);
    expect(codesOf(await given.partner.registerBulk(['32', '33'].map(provoking)))).toEqual(['32', '33']);
    expect(await taken()).toBe(2);
  });

  test('provokes each code for the call; 91 alone reserves seats', async () => {
    for (const code of OF_CALL) {
      const before = await taken();
      const call = [attendee(given.ticketId), provoking(code), provoking('32')];
      expectFailure(await given.partner.registerBulk(call), code);
      expect([code, (await taken()) - before]).toEqual([code, code === '91' ? 2 : 0]);
    }
  });

  test('of two that lose or refuse the call, the refusal wins', async () => {
    expectFailure(await given.partner.registerBulk([provoking('91'), provoking('90')]), '90');
    expect(await taken()).toBe(0);
  });

  test('loses the answer (91): the same key once more gives it', async () => {
    const headers = keyed();
    const call = [provoking('91'), provoking('32'), attendee(given.ticketId)];
    expectFailure(await given.partner.registerBulk(call, 'each', headers), '91');
    const again = await given.partner.registerBulk(call, 'each', headers);
    expect([codesOf(again), again.headers.get('idempotent-replayed')]).toEqual([['00', '32', '00'], 'true']);
    expect(await taken()).toBe(2);
  });
});

test('under a live event these are addresses like any other', async () => {
  const gala = await createFixture(given.database.db);
  const ticket = await gala.addTicket();
  const live = new PartnerClient(given.api.baseUrl, gala);
  const attendees = [...SINGLE, '36'].map((code) => attendee(ticket, { emailAddress: addressOf(code) }));
  for (const one of attendees) expect(codeOf(await live.register(one))).toBe('00');
  for (const mode of ['each', 'all'])
    expect(new Set(codesOf(await live.registerBulk(attendees, mode)))).toEqual(new Set(['00']));
});

test('what is provoked is no fault in the log', async () => {
  const before = given.api.log().length;
  await given.partner.register(provoking('99'));
  await given.partner.registerBulk([provoking('99')]);
  expect(given.api.log().slice(before)).not.toMatch(/unexpected/);
});

test('a registration under a test event is stored as one under a live event', async () => {
  await given.partner.register(attendee(given.ticketId));
  const rows = tablesOf(given.database.db).selectFrom('registrations').select('attendee_digest');
  expect(await rows.where('event_id', '=', given.gala.eventId).execute()).toEqual([
    { attendee_digest: null },
  ]);
});

describe('modes', () => {
  /** Returns the answer without the headers that differ in every answer. */
  async function ask(path: string, secretKey: string, eventRef: string) {
    const method = path === 'tickets' ? 'GET' : 'POST';
    const { status, text, headers } = await given.partner.request(`/api/v1/events/${path}`, {
      method,
      headers: { 'x-secret-key': secretKey, 'x-event-ref': eventRef, 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(attendee(given.ticketId)) }),
    });
    const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
    return { status, text, headers: kept };
  }

  test.for([
    ['live', 'test'],
    ['test', 'live'],
  ] as const)('a %s key finds no %s event, as if there were none', async ([ofKey, ofEvent]) => {
    const owner = await createFixture(given.database.db, 'allow', ofKey);
    const event = await createFixture(given.database.db, 'allow', ofEvent);
    await grantEvent(given.database.db, owner.partnerId, event.eventId);
    for (const path of ['tickets', 'register', 'reset']) {
      const answer = await ask(path, owner.secretKey, event.eventRef);
      expect(answer).toEqual(await ask(path, owner.secretKey, randomUUID()));
      expect(JSON.parse(answer.text)).toMatchObject({ responseCode: '21' });
      expect(answer.status).toBe(404);
    }
    const { secretKey } = await issueKey(given.database.db, owner.partnerId, null, ofEvent);
    expect((await ask('tickets', secretKey, event.eventRef)).status).toBe(200);
  });

  test('a key says its mode, and what it says must be true', async () => {
    const { secretKey } = given.gala;
    const live = await issueKey(given.database.db, given.gala.partnerId);
    expect([secretKey, live.secretKey]).toEqual([
      expect.stringMatching(/^fg_test_[0-9a-f]{16}_/),
      expect.stringMatching(/^fg_[0-9a-f]{16}_/),
    ]);
    expect([secretKey, live.secretKey].map((text) => parseSecretKey(text)?.mode)).toEqual(['test', 'live']);
    const stored = (await listKeys(given.database.db, given.gala.partnerId)).find(
      ({ keyId }) => keyId === live.keyId,
    );
    expect(stored?.mode).toBe('live');
    for (const pretended of [secretKey.replace('fg_test_', 'fg_'), live.secretKey.replace('fg_', 'fg_test_')])
      for (const eventRef of [given.gala.eventRef, randomUUID()])
        expect((await ask('tickets', pretended, eventRef)).text).toContain('"20"');
  });

  test('operators make them, and see which is which', async () => {
    const cli = async <Document>(...args: string[]): Promise<Document> => {
      const { code, output } = await runCli({ DATABASE_URL: given.database.url }, ...args, '--json');
      expect(code, output).toBe(0);
      return JSON.parse(output) as Document;
    };
    type Made = { id: number; keyId: string; secretKey: string; mode: string };
    const partnerId = String(given.gala.partnerId);
    const made = await cli<Made>('key', 'issue', partnerId, '--test');
    const successor = await cli<Made>('key', 'rotate', made.keyId);
    const live = await cli<Made>('key', 'issue', partnerId);
    expect(
      [made, successor, live].map(({ secretKey, mode }) => [parseSecretKey(secretKey)?.mode, mode]),
    ).toEqual([
      ['test', 'test'],
      ['test', 'test'],
      ['live', 'live'],
    ]);
    const keys = await cli<Made[]>('key', 'list', '--partner', partnerId);
    const modeOf = new Map(keys.map(({ keyId, mode }) => [keyId, mode]));
    expect([made, successor, live].map(({ keyId }) => modeOf.get(keyId))).toEqual(['test', 'test', 'live']);

    const create = (...args: string[]) =>
      cli<Made>('event', 'create', 'Rehearsal', '--prefix', 'TRY', ...args);
    const events = [await create('--test'), await create()];
    expect(events.map(({ mode }) => mode)).toEqual(['test', 'live']);
    const listed = await cli<Made[]>('event', 'list');
    expect(events.map(({ id }) => listed.find((row) => row.id === id)?.mode)).toEqual(['test', 'live']);
    const { output } = await runCli({ DATABASE_URL: given.database.url }, 'event', 'list');
    expect(output).toMatch(/ mode .*\n[^]* test /);
  });
});

const expectReset = (answer: Answer, cancelled: number, more = false) =>
  expect([answer.status, answer.body]).toEqual([
    200,
    { responseCode: '00', responseMessage: 'Successful', responseData: { cancelled, more } },
  ]);

describe('a reset', () => {
  test('gives back every seat of a test event, whatever has become of it, and forgets the keys', async () => {
    await given.useTicket({ capacity: 4 });
    const headers = keyed();
    const first = await given.partner.register(attendee(given.ticketId), headers);
    const others = await given.partner.registerBulk(
      [attendee(given.ticketId), attendee(given.ticketId)],
      'all',
      keyed(),
    );
    const held = await given.partner.register(attendee(given.ticketId), { 'hold-for': '60' });
    const passes = [first, held].map(({ body }) => String(body.responseData));
    expect([...codesOf(others), codeOf(held)]).toEqual(['00', '00', '00']);
    expect(codeOf(await given.partner.register(attendee(given.ticketId)))).toBe('32');
    await given.partner.cancel(passes[0]!);
    expectReset(await given.partner.reset(), 3);
    expect(await taken()).toBe(0);
    for (const pass of passes)
      expect((await given.partner.registration(pass)).body.responseData).toMatchObject({
        state: 'cancelled',
      });
    // The key can be used again: the call registers, even with another request.
    const again = await given.partner.register(
      attendee(given.ticketId, { fullName: 'Somebody Else' }),
      headers,
    );
    expect([codeOf(again), again.headers.get('idempotent-replayed')]).toEqual(['00', null]);
    expectReset(await given.partner.reset(), 1);
    expectReset(await given.partner.reset(), 0);
  });

  test('finds what is finalized, held or confirmed, and looks at each part of the journal once', async () => {
    const { shardId, eventId, partnerId } = given.gala;
    const register = (headers: Record<string, string> = {}) =>
      given.partner.register(attendee(given.ticketId), headers);
    const cursor = async () => {
      const rows = tablesOf(given.database.db)
        .selectFrom('test_resets')
        .selectAll()
        .where('event_id', '=', eventId);
      return (await rows.execute()).map(({ partner_id, journal_offset }) => [partner_id, journal_offset]);
    };
    await register();
    const held = String((await register({ 'hold-for': '60' })).body.responseData);
    await register({ 'hold-for': '60' });
    await finalizePending(given.database.db, shardId);
    await given.partner.confirm(held);
    await register();
    expectReset(await given.partner.reset(), 4);
    await finalizePending(given.database.db, shardId);
    expectReset(await given.partner.reset(), 0);
    const { cursor: head } = (await readJournal(
      given.database.db,
      { shardId, eventId, partnerId },
      0,
      100,
    )) as {
      cursor: number;
    };
    expect(await cursor()).toEqual([[partnerId, head]]);
    await register();
    await finalizePending(given.database.db, shardId);
    expectReset(await given.partner.reset(), 1);
    expect(await taken()).toBe(0);
  });

  test('starts again where the journal was restored from an earlier state', async () => {
    const { shardId, eventId, partnerId } = given.gala;
    await given.partner.register(attendee(given.ticketId));
    await finalizePending(given.database.db, shardId);
    await tablesOf(given.database.db)
      .insertInto('test_resets')
      .values({ shard_id: shardId, event_id: eventId, partner_id: partnerId, journal_offset: 1_000_000 })
      .execute();
    expectReset(await given.partner.reset(), 1);
  });

  test('frees attendees whom the event takes once, and those who get their first seat again', async () => {
    for (const policy of ['reject', 'return_existing'] as const) {
      const once = await createFixture(given.database.db, policy, 'test');
      const ticket = await once.addTicket();
      const client = new PartnerClient(given.api.baseUrl, once);
      const first = await client.register(attendee(ticket));
      expectReset(await client.reset(), 1);
      const second = await client.register(attendee(ticket));
      expect(codeOf(second)).toBe('00');
      expect(second.body.responseData).not.toBe(first.body.responseData);
    }
  });

  test("leaves what is another partner's, or of another event, as it is", async () => {
    const other = await createFixture(given.database.db, 'allow', 'test');
    await grantEvent(given.database.db, other.partnerId, given.gala.eventId);
    const neighbour = new PartnerClient(given.api.baseUrl, { ...given.gala, secretKey: other.secretKey });
    const elsewhere = new PartnerClient(given.api.baseUrl, other);
    const headers = keyed();
    const theirs = await neighbour.register(attendee(given.ticketId), headers);
    const apart = await elsewhere.register(attendee(await other.addTicket()), headers);
    const second = await createEvent(given.database.db, {
      name: 'Ball',
      passPrefix: 'BALL',
      duplicatePolicy: 'allow',
      mode: 'test',
    });
    await grantEvent(given.database.db, given.gala.partnerId, second.id);
    const besides = new PartnerClient(given.api.baseUrl, { ...given.gala, eventRef: second.ref });
    const ballTicket = await createTicket(
      given.database.db,
      second.id,
      { title: 'Ball', capacity: 1 },
      'test',
    );
    const own = await besides.register(attendee(ballTicket.id), headers);
    await given.partner.register(attendee(given.ticketId), headers);
    expectReset(await given.partner.reset(), 1);
    for (const [client, { body }] of [
      [neighbour, theirs],
      [elsewhere, apart],
      [besides, own],
    ] as const)
      expect((await client.registration(String(body.responseData))).body.responseData).toMatchObject({
        state: 'reserved',
      });
    const replayed = await neighbour.register(attendee(given.ticketId), headers);
    expect([replayed.text, replayed.headers.get('idempotent-replayed')]).toEqual([theirs.text, 'true']);
    expect(await taken()).toBe(1);
  });

  test('heeds no deadline for cancellations', async () => {
    await sql`update events set cancel_until = '2020-01-01' where id = ${given.gala.eventId}`.execute(
      given.database.db,
    );
    await given.partner.register(attendee(given.ticketId));
    expectReset(await given.partner.reset(), 1);
  });

  test('of very many takes several calls', async () => {
    await given.useTicket({ capacity: 100_000 });
    const thousand = Array.from({ length: 1_000 }, () => attendee(given.ticketId));
    for (let call = 0; call < 10; call += 1) await given.partner.registerBulk(thousand, 'all', keyed());
    const headers = keyed();
    await given.partner.register(attendee(given.ticketId), headers);
    expectReset(await given.partner.reset(), 10_000, true);
    expectReset(await given.partner.reset(), 1);
    expect(await taken()).toBe(0);
  });

  test('needs no room among the registrations that wait', async () => {
    const small = await startInProcessApi({ DATABASE_URL: given.database.url, WAITING_LIMIT: '20' });
    const client = new PartnerClient(small.baseUrl, given.gala);
    await given.partner.registerBulk(Array.from({ length: 100 }, () => attendee(given.ticketId)));
    expectReset(await client.reset(), 100);
    await small.close();
    expect(await taken()).toBe(0);
  });

  test('of a live event does not exist', async () => {
    const gala = await createFixture(given.database.db);
    const live = new PartnerClient(given.api.baseUrl, gala);
    const ticket = await gala.addTicket();
    await live.register(attendee(ticket));
    expectFailure(await live.reset(), '60', 404);
    expect(await taken(ticket)).toBe(1);
  });

  test('asks for no body, and reads none', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{' };
    expectReset(await given.partner.request('/api/v1/events/reset', init), 0);
    // Without a Content-Length, as `curl -X POST` sends it.
    const { secretKey, eventRef } = given.gala;
    for (const type of [{}, { 'content-type': 'application/json' }]) {
      const headers = { host: 'api', 'x-secret-key': secretKey, 'x-event-ref': eventRef, ...type };
      expectReset(await exchange(given.api.baseUrl, requestText('POST /api/v1/events/reset', headers)), 0);
    }
  });
});
