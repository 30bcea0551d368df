import { issueKey, limitPartner } from '@floodgate/partners';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { runCli, startApiProcess } from '../harness/service-process.ts';
import { measuredWait } from '../harness/measured-wait.ts';
import { lastFalse, waitUntil } from '../harness/wait-until.ts';

const { test, given } = eventTest({ own: 'what other files left would change what is measured' });

// Rates, and how soon changes of a limit take effect, in real time. rate-limit.test.ts tests the rules by the
// clock of the APIs.

const LIMIT = 25;
const TAKES_EFFECT_WITHIN_MS = 2_000;

test.override('ticket', { capacity: 100_000 });

let apis: Awaited<ReturnType<typeof startApiProcess>>[];

test.beforeAll(async () => {
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url };
  apis = await Promise.all([1, 2].map(() => startApiProcess(env)));
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.end()));
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

/** Lets each client send one request after another, registrations and lists of tickets in turn, until `stop`. */
async function hammer(
  callers: readonly PartnerClient[],
  ticket: number,
  stop: AbortSignal,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const work = async (caller: PartnerClient) => {
    while (!stop.aborted) {
      answers.push(await caller.register(attendee(ticket)));
      answers.push(await caller.tickets());
    }
  };
  await Promise.all(callers.map(work));
  return answers;
}

/** Hammers for this many whole seconds of Postgres's clock; answers how many seconds it touched in the end. */
async function hammerFor(seconds: number, callers: readonly PartnerClient[], ticket = given.ticketId) {
  const start = Math.floor(await postgresClock()) + 1;
  await waitUntil('a second begins', async () => (await postgresClock()) >= start);
  const stop = new AbortController();
  const hammering = hammer(callers, ticket, stop.signal);
  await waitUntil('the seconds are over', async () => (await postgresClock()) >= start + seconds - 0.1);
  stop.abort();
  const answers = await hammering;
  return { answers, touched: Math.floor(await postgresClock()) - start + 1 };
}

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
const countOf = (answers: readonly Answer[], code: string) =>
  answers.filter(({ body }) => body.responseCode === code).length;

/** Expects that the callers together never got more than the limit, and get it once the machine has the time to ask for much more. */
async function expectLimit(limit: number, callers: readonly PartnerClient[]): Promise<void> {
  const seconds = 3;
  await waitUntil('the callers ask for much more than the limit, and get it', async () => {
    const { answers, touched } = await hammerFor(seconds, callers);
    const granted = countOf(answers, '00');
    expect(granted).toBeLessThanOrEqual(1.2 * limit * touched);
    expect(countOf(answers, '50')).toBe(answers.length - granted);
    return answers.length > 4 * limit * touched && granted >= 0.8 * limit * seconds;
  });
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
    const stop = new AbortController();
    const flood = hammer([...clients(), ...clients(), ...clients()], given.ticketId, stop.signal);
    const ticket = await free.addTicket({ capacity: 100_000 });
    const { answers } = await hammerFor(2, clients(free), ticket).finally(() => stop.abort());
    expect(countOf(await flood, '50')).toBeGreaterThan(0);
    expect(countOf(answers, '00')).toBe(answers.length);
    for (const answer of answers) expect(limitHeaders(answer)).toEqual(NO_HEADERS);
  });

  test('a request that is answered 50 reserved nothing', async () => {
    const { answers } = await hammerFor(2, times(6, clients()[0]!));
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

  /** Expects that both APIs tell of the policy in time, under steady traffic. */
  async function expectEffect(act: () => Promise<{ code: number | null }>, policy: string | null) {
    const seen = clients().map((client) =>
      lastFalse(
        `the policy is ${policy}`,
        async () => limitHeaders(await client.tickets()).policy === policy,
      ),
    );
    expect(await act()).toMatchObject({ code: 0 });
    const doneAt = performance.now();
    const reference = measuredWait(TAKES_EFFECT_WITHIN_MS, () => clients()[0]!.tickets());
    const lasted = (await Promise.all(seen)).map((staleAt) => staleAt - doneAt);
    expect(Math.max(...lasted)).toBeLessThan(await reference);
  }

  test('sets, changes and lifts a limit, which both APIs follow within 2 s', async () => {
    for (const client of clients()) expect(limitHeaders(await client.tickets())).toEqual(NO_HEADERS);
    await expectEffect(() => limit('5'), '"partner";q=5;w=1');
    await untilRefused(() => clients()[0]!.tickets());
    await expectEffect(() => limit('500'), '"partner";q=500;w=1');
    await expectEffect(() => limit('none'), null);
    for (const client of clients()) expect(limitHeaders(await client.tickets())).toEqual(NO_HEADERS);
  });
});
