import { issueKey, limitPartner } from '@floodgate/partners';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { PATIENT, startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { exchange, requestText } from '../harness/raw-http.ts';
import { runCli } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

const LIMIT = 25;
/** An API remembers the limit of a partner for this long. */
const REMEMBERED_MS = 1_000;

test.override('ticket', { capacity: 100_000 });

/** Of both APIs. Their seconds end only when a test says so. */
const clock = new ManualClock();
let apis: InProcessApi[];

test.beforeAll(async () => {
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url, ...PATIENT };
  apis = await Promise.all([1, 2].map(() => startInProcessApi(env, clock)));
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
});

const clients = (fixture: Pick<Fixture, 'secretKey' | 'eventRef'> = given.gala) =>
  apis.map((api) => new PartnerClient(api.baseUrl, fixture));

const limitHeaders = ({ headers }: Answer) => ({
  policy: headers.get('ratelimit-policy'),
  limit: headers.get('ratelimit'),
});
const NO_HEADERS = { policy: null, limit: null };

/** Seconds since 1970, by the clock that the limits go by. */
async function postgresClock(): Promise<number> {
  const { rows } = await sql<{ now: number }>`select extract(epoch from clock_timestamp()) as now`.execute(
    given.database.db,
  );
  return rows[0]!.now;
}

/** Lets each client send requests, registrations and lists of tickets in turn, until it is refused. */
async function sendUntilRefused(callers: readonly PartnerClient[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const send = async (caller: PartnerClient) => {
    let count = 0;
    while (!(await isRefused(caller, count))) count += 1;
  };
  const isRefused = async (caller: PartnerClient, count: number) => {
    const answer = await (count % 2 ? caller.tickets() : caller.register(attendee(given.ticketId)));
    answers.push(answer);
    return answer.body.responseCode === '50';
  };
  await Promise.all(callers.map(send));
  return answers;
}

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
const countOf = (answers: readonly Answer[], code: string) =>
  answers.filter(({ body }) => body.responseCode === code).length;

/** Expects that the callers together get exactly the limit in a second, and again in the next one. */
async function expectLimit(limit: number, callers: readonly PartnerClient[]): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    // For the APIs the time stands still. Postgres's clock goes on, and grants the limit in each of its seconds.
    const start = Math.floor(await postgresClock()) + 1;
    await waitUntil('a second begins', async () => (await postgresClock()) >= start);
    const answers = await sendUntilRefused(callers);
    const seconds = Math.floor(await postgresClock()) - start + 1;
    const granted = countOf(answers, '00');
    expect(granted).toBeGreaterThanOrEqual(limit);
    expect(granted).toBeLessThanOrEqual(limit * seconds);
    expect(countOf(answers, '50')).toBe(callers.length);
    expect(granted + callers.length).toBe(answers.length);
    await clock.advance(2_000);
  }
}

describe('two APIs together admit the limit', () => {
  beforeEach(() => limitPartner(given.database.db, given.gala.partnerId, LIMIT));

  test.each([
    ['evenly spread', 4, 4],
    ['nearly all on one', 7, 1],
    ['all on one', 8, 0],
  ])('with the traffic %s', async (_, onOne, onOther) => {
    const [one, other] = clients() as [PartnerClient, PartnerClient];
    await expectLimit(LIMIT, [...times(onOne, one), ...times(onOther, other)]);
  });

  test("for a partner's keys together", async () => {
    const second = await issueKey(given.database.db, given.gala.partnerId);
    const callers = [...clients(), ...clients({ ...given.gala, secretKey: second.secretKey })];
    await expectLimit(LIMIT, [...callers, ...callers]);
  });

  test('and a partner without a limit is not held up by it', async () => {
    const free = await createFixture(given.database.db);
    await sendUntilRefused(clients());
    for (const client of times(2 * LIMIT, clients(free)[0]!)) {
      const answer = await client.tickets();
      expect(answer.body.responseCode).toBe('00');
      expect(limitHeaders(answer)).toEqual(NO_HEADERS);
    }
  });

  test('a request that is answered 50 reserved nothing', async () => {
    const answers = await sendUntilRefused(times(6, clients()[0]!));
    const registered = answers.filter(({ text }) => text.includes('GALA-')).length;
    const { rows } = await sql<{ count: number }>`
      select count(*) from registrations where event_id = ${given.gala.eventId}`.execute(given.database.db);
    expect(rows[0]!.count).toBe(registered);
  });
});

/** Repeats the request until it is refused. */
const untilRefused = (send: () => Promise<Answer>) =>
  waitUntil('the limit is reached', async () => {
    const answer = await send();
    return answer.body.responseCode === '50' && answer;
  });

describe('the operator', () => {
  const cli = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'partner', ...args);
  const limit = (to: string) => cli('limit', String(given.gala.partnerId), to);

  /** Expects that both APIs follow when what they remember is too old. */
  async function expectEffect(act: () => Promise<{ code: number | null }>, policy: string | null) {
    expect(await act()).toMatchObject({ code: 0 });
    await clock.advance(REMEMBERED_MS + 1);
    for (const client of clients()) expect(limitHeaders(await client.tickets()).policy).toBe(policy);
  }

  test('sets, changes and lifts a limit, which both APIs follow', async () => {
    for (const client of clients()) expect(limitHeaders(await client.tickets())).toEqual(NO_HEADERS);
    await expectEffect(() => limit('5'), '"partner";q=5;w=1');
    await untilRefused(() => clients()[0]!.tickets());
    await expectEffect(() => limit('500'), '"partner";q=500;w=1');
    await expectEffect(() => limit('none'), null);
    for (const client of clients()) expect(limitHeaders(await client.tickets())).toEqual(NO_HEADERS);
  });

  test('sees the limit in the list of partners', async () => {
    const listed = async () => {
      const { output } = await cli('list', '--json');
      return (JSON.parse(output) as { id: number }[]).find(({ id }) => id === given.gala.partnerId);
    };
    expect(await listed()).toMatchObject({ requestsPerSecond: null });
    expect(await limit('250')).toEqual({
      code: 0,
      output: `partner ${given.gala.partnerId}: 250 requests a second\n`,
    });
    expect(await listed()).toMatchObject({ requestsPerSecond: 250 });
    expect((await cli('list')).output).toMatch(
      /^ *id +name +contact +requests\/s +weight +operator's own +open keys/,
    );
    expect(await limit('none')).toEqual({ code: 0, output: `partner ${given.gala.partnerId}: no limit\n` });
    expect(await listed()).toMatchObject({ requestsPerSecond: null });
  });

  test('sets the weight of a partner, and is told what it can be', async () => {
    const weigh = (weight: string) => cli('weigh', String(given.gala.partnerId), weight, '--by', 'jane');
    expect(await weigh('3')).toEqual({ code: 0, output: `partner ${given.gala.partnerId}: weight 3\n` });
    const { output } = await cli('list', '--json');
    const partners = JSON.parse(output) as { id: number; weight: number }[];
    expect(partners.find(({ id }) => id === given.gala.partnerId)).toMatchObject({ weight: 3 });
    const wrong = await weigh('0');
    expect(wrong.code).toBe(2);
    expect(wrong.output).toContain('a whole number from 1 to 100');
  });

  test('is told that there is no such partner, and what a limit can be', async () => {
    expect(await cli('limit', '2147483647', '5')).toEqual({
      code: 1,
      output: 'floodgate: no such partner\n',
    });
    const wrong = await limit('1000001');
    expect(wrong.code).toBe(2);
    expect(wrong.output).toContain('a whole number from 1 to 1000000');
  });
});

describe('a limited partner', () => {
  const POLICY = '"partner";q=7;w=1';
  const REMAINING = /^"partner";r=[0-6];t=1$/;
  let partner: PartnerClient;
  beforeEach(async () => {
    await limitPartner(given.database.db, given.gala.partnerId, 7);
    partner = clients()[0]!;
  });

  test('is told of its limit in every answer, failures included', async () => {
    const requests: [string, () => Promise<Answer>][] = [
      ['00', () => partner.register(attendee(given.ticketId))],
      ['00', () => partner.tickets()],
      ['10', () => partner.register('{')],
      ['11', () => partner.register({})],
      ['30', () => partner.register(attendee(2_147_483_647))],
      ['34', () => partner.registration('GALA-1-1-1')],
    ];
    for (const [code, send] of requests) {
      const answer = await waitUntil(`an answer ${code}`, async () => {
        const input = await send();
        return input.body.responseCode !== '50' && input;
      });
      expect(answer.body.responseCode).toBe(code);
      expect(limitHeaders(answer)).toEqual({ policy: POLICY, limit: expect.stringMatching(REMAINING) });
    }
  });

  test('is answered 50 above it, in the envelope, with the time to come back', async () => {
    const answer = await untilRefused(() => partner.register(attendee(given.ticketId)));
    expectFailure(answer, '50', 429);
    expect(answer.body.responseMessage).toBe('Too many requests: at most 7 a second');
    expect(limitHeaders(answer)).toEqual({ policy: POLICY, limit: '"partner";r=0;t=1' });
  });

  test('is told how much of it remains', async () => {
    for (const remaining of [6, 3, 0])
      await waitUntil(`${remaining} remain`, async () => {
        const { limit } = limitHeaders(await partner.tickets());
        return limit === `"partner";r=${remaining};t=1`;
      });
  });

  test('uses up none but its own', async () => {
    const other = await createFixture(given.database.db);
    await limitPartner(given.database.db, other.partnerId, 7);
    await untilRefused(() => partner.tickets());
    const answer = await clients(other)[0]!.tickets();
    expect(answer.body.responseCode).toBe('00');
  });

  test('is refused before its body is read', async () => {
    const { secretKey, eventRef } = given.gala;
    const head = requestText('POST /api/v1/events/register', {
      host: 'api',
      'x-secret-key': secretKey,
      'x-event-ref': eventRef,
      'content-type': 'application/json',
      'content-length': '1000',
    });
    const answer = await waitUntil('an answer without a body', async () => {
      await untilRefused(() => partner.tickets());
      return exchange(apis[0]!.baseUrl, head).catch(() => null);
    });
    expectFailure(answer, '50', 429);
  });

  test('is told nothing of its limit where the key or the event is not its own', async () => {
    const stranger = await createFixture(given.database.db);
    const answers = await Promise.all([
      partner.request('/api/v1/events/tickets', { headers: { 'x-secret-key': 'wrong' } }),
      partner.request('/api/v1/events/tickets', { headers: { 'x-event-ref': stranger.eventRef } }),
    ]);
    for (const answer of answers) expect(limitHeaders(answer)).toEqual(NO_HEADERS);
  });
});

describe('where the shared counter is out of reach', () => {
  let api: InProcessApi;
  let partner: PartnerClient;
  let ownClock: ManualClock;
  beforeEach(async () => {
    ownClock = new ManualClock();
    api = await startInProcessApi({ DATABASE_URL: given.database.url, ...PATIENT }, ownClock);
    partner = new PartnerClient(api.baseUrl, given.gala);
    await limitPartner(given.database.db, given.gala.partnerId, LIMIT);
  });

  /** Takes the counter away in one of the ways that there are; answers how to bring it back. */
  type Outage = () => Promise<() => Promise<unknown>>;
  const locked: Outage = async () => {
    const rival = await given.database.db.startTransaction().execute();
    await sql`lock table rate_limit_windows`.execute(rival);
    return () => rival.rollback().execute();
  };
  const missing: Outage = async () => {
    await sql`alter table rate_limit_windows rename to elsewhere`.execute(given.database.db);
    return () => sql`alter table elsewhere rename to rate_limit_windows`.execute(given.database.db);
  };

  test.each([
    ['hangs', locked],
    ['fails', missing],
  ])('and %s, registrations pass up to the limit of each process by itself', async (_, takeAway) => {
    const bringBack = await takeAway();
    try {
      for (let second = 0; second < 2; second += 1) {
        const answers = await sendUntilRefused(times(8, partner));
        expect([countOf(answers, '00'), countOf(answers, '50')]).toEqual([LIMIT, 8]);
        await ownClock.advance(1_000);
      }
      expect(api.log()).toContain('rate limits are not shared');
    } finally {
      await bringBack();
    }
    await waitUntil('limits are shared again', async () => {
      await ownClock.advance(1_000);
      await partner.tickets();
      return api.log().includes('rate limits are shared again');
    });
    await api.close();
  });
});

test('the OpenAPI document tells of the headers and of code 50', async () => {
  const response = await fetch(`${apis[0]!.baseUrl}/api/v1/openapi.json`);
  const { paths } = (await response.json()) as {
    paths: Record<string, Record<string, { responses: Record<string, { headers: object }> }>>;
  };
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const status of [200, 429])
      expect(Object.keys(operation.responses[status]!.headers)).toEqual(
        expect.arrayContaining(['RateLimit-Policy', 'RateLimit']),
      );
});
