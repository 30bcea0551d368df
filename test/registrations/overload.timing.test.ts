import { reconcile } from '@floodgate/registrations';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure, expectRetryAfter } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { measuredWait } from '../harness/measured-wait.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { startApiProcess, type Environment, type ServiceProcess } from '../harness/service-process.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'what other files left would change what is measured' });

test.override('ticket', { capacity: 100_000 });

// How soon everything is answered while Postgres does not answer. overload.test.ts tests what is answered.

let proxy: TcpProxy;
let api: ServiceProcess & { baseUrl: string };
let partner: PartnerClient;

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
});

afterAll(async () => {
  await proxy.stop();
});

beforeEach(async () => {
  proxy.setMode('pass');
});

afterEach(async () => {
  expect(await api.end(), api.output()).toBe(0);
  expect(await reconcile(given.database.db)).toEqual([]);
});

/** Starts the API with Postgres behind the proxy, and without a queue: these tests do not need finalization. */
async function startApi(env: Environment = {}): Promise<void> {
  const common = { DATABASE_URL: proxy.through(given.database.url), QUEUE_URL: 'redis://127.0.0.1:1' };
  api = await startApiProcess({ ...common, ...env });
  partner = new PartnerClient(api.baseUrl, given.gala);
}

const register = (count: number) =>
  Promise.all(Array.from({ length: count }, () => partner.register(attendee(given.ticketId))));

function codes(answers: Answer[]): Record<string, number> {
  const byCode = Map.groupBy(answers, ({ body }) => body.responseCode);
  return Object.fromEntries([...byCode].map(([code, same]) => [code, same.length]));
}

async function storedRegistrations(): Promise<number> {
  const rows = tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('serial')
    .where('event_id', '=', given.gala.eventId);
  return (await rows.execute()).length;
}

const ANSWER_WITHIN_MS = 1_500;
/** A read can wait for a connection and then for its answer, each with its own timeout, and Postgres ends a statement first. */
const WAITS_MS = 2 * ANSWER_WITHIN_MS + 500;

test('a stuck Postgres: everything is answered in time, and afterwards the books balance', async () => {
  await startApi({ ANSWER_WITHIN_MS: String(ANSWER_WITHIN_MS), WAITING_LIMIT: '50' });
  const [registered] = await register(20);
  const passReference = String(registered!.body.responseData);
  const held = await holdTicket(given.database.db, given.ticketId);
  const registrations = register(200);
  await held.waiters(1);
  proxy.setMode('silent');
  const stuckAt = performance.now();
  const reference = measuredWait(WAITS_MS, () => fetch(`${api.baseUrl}/health/live`));
  const { secretKey } = await createFixture(given.database.db);
  const newcomer = new PartnerClient(api.baseUrl, { ...given.gala, secretKey });
  const reads = [partner.registration(passReference), newcomer.tickets(), newcomer.register('{')];
  expect((await fetch(`${api.baseUrl}/health/live`)).status).toBe(200);
  expect((await fetch(`${api.baseUrl}/health/ready`)).status).toBe(503);
  for (const answer of await Promise.all(reads)) expectFailure(answer, '90', 503);
  const answers = await registrations;
  const took = performance.now() - stuckAt;
  expect(took).toBeLessThan(1.25 * (await reference));
  const { '91': unknown = 0, '90': refused = 0 } = codes(answers);
  expect(unknown + refused).toBe(200);
  expect(unknown).toBeGreaterThan(0);
  for (const answer of answers) expectRetryAfter(answer, 1);

  await held.release();
  proxy.setMode('pass');
  const again = await waitUntil('Postgres is found again', async () => {
    const answer = await partner.register(attendee(given.ticketId));
    return answer.body.responseCode === '00' && answer;
  });
  expect((await partner.registration(String(again.body.responseData))).status).toBe(200);
  expect(codes(await register(20))).toEqual({ '00': 20 });
  expect(await storedRegistrations()).toBeGreaterThanOrEqual(41);
  expect(await storedRegistrations()).toBeLessThanOrEqual(41 + unknown);
});
