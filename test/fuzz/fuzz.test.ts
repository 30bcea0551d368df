import { reconcile, type Reservation } from '@floodgate/registrations';
import { RegistrationRequest } from '@floodgate/contract';
import { afterAll, expect, inject } from 'vitest';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startApiProcess, type ServiceProcess } from '../harness/service-process.ts';
import { RULES, wrongFields } from './registration-rules.ts';
import { runFuzz, type FuzzReport } from './run-fuzz.ts';
import { storedBodies } from './stored-bodies.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { databaseTest } from '../harness/database-test.ts';

const { test, given } = databaseTest({ own: 'draws operations, and compares whole tables' });

// The gate sends 500 messages, the evidence tier 20,000, from a seed of its own choice; npm run test:fuzz
// sends as many as it is told.
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? (inject('tier') === 'gate' ? 500 : 20_000));
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const PROGRESS_EVERY = 5_000;
/** So that a busy machine is no finding: nothing here is about how long an answer takes, as long as it comes. */
const ANSWER_WITHIN_MS = '30000';
const TEST_TIMEOUT_MS = 120_000 + REQUESTS * 20;

let api: ServiceProcess & { baseUrl: string };
let report: FuzzReport;

test.beforeAll(async () => {
  api = await startApiProcess({
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
    ANSWER_WITHIN_MS,
  });
});

afterAll(async () => {
  await api.end();
});

test(
  `every one of ${REQUESTS} hostile messages is answered as the documentation says (FUZZ_SEED=${SEED})`,
  async () => {
    const startedAt = performance.now();
    const onProgress = (sent: number) => {
      if (sent % PROGRESS_EVERY === 0) process.stderr.write(`fuzz: ${sent} of ${REQUESTS}\n`);
    };
    report = await runFuzz({
      baseUrl: api.baseUrl,
      db: given.database.db,
      requests: REQUESTS,
      seed: SEED,
      onProgress,
    });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const { sent, understood, answers } = report;
    process.stdout.write(
      `fuzz: seed ${SEED}, ${sent} messages with ${understood} requests in ${seconds} s: ${JSON.stringify(answers)}\n`,
    );
    expect(report.failures.join('\n\n'), `replay: FUZZ_SEED=${SEED} FUZZ_REQUESTS=${REQUESTS}`).toBe('');
  },
  TEST_TIMEOUT_MS,
);

test('what is stored is what was answered 00, as it was sent, and obeys the rules', async ({ skip }) => {
  skip(report.failures.length > 0, 'whose answer was not as expected is not remembered as registered');
  for (const { eventId, model, unanswered } of report.targets) {
    const stored = await storedBodies(given.database.db, eventId);
    expect(stored.filter(({ body }) => wrongFields(body).length > 0)).toEqual([]);
    const registered = new Map(model.registrations.map((sent) => [sent.serial, bodyOf(sent)]));
    const expected = stored.filter(({ serial }) => registered.has(serial));
    expect(expected).toEqual(
      [...registered].map(([serial, body]) => ({ serial, body })).toSorted((a, b) => a.serial - b.serial),
    );
    const others = stored.filter(({ serial }) => !registered.has(serial)).map(({ body }) => body);
    expect(withoutEach(others, unanswered.map(bodyOf))).toEqual([]);
  }
  expect(report.answers['00']).toBeGreaterThan(REQUESTS / 20);
});

test('each hold has the seats of its answer, with attendees only if it was confirmed', async () => {
  for (const { eventId, holds } of report.targets) {
    const seats = await tablesOf(given.database.db)
      .selectFrom('registrations')
      .select([
        'hold_id as id',
        'full_name as name',
        'held_until as heldUntil',
        'cancelled_at as cancelledAt',
      ])
      .where('event_id', '=', eventId)
      .where('hold_id', 'is not', null)
      .execute();
    const counts = new Map([...Map.groupBy(seats, ({ id }) => id)].map(([id, of]) => [id, of.length]));
    expect([...holds].filter(([id, count]) => counts.get(id) !== count)).toEqual([]);
    const named = seats.filter(({ name, cancelledAt }) => name !== null && cancelledAt === null);
    expect(named.filter(({ heldUntil }) => heldUntil === null || heldUntil < new Date(8.64e15))).toEqual([]);
  }
  expect(report.targets.reduce((sum, { holds }) => sum + holds.size, 0)).toBeGreaterThan(REQUESTS / 200);
});

/** What is left of `bodies` when each of `others` has been taken away once. */
function withoutEach(bodies: readonly object[], others: readonly object[]): object[] {
  const left = others.map((other) => JSON.stringify(other));
  return bodies.filter((body) => {
    const at = left.indexOf(JSON.stringify(body));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** What a registration holds, in the fields that partners send. */
const bodyOf = (sent: Reservation) => ({
  fullName: sent.fullName,
  emailAddress: sent.emailAddress,
  phoneNumber: sent.phoneNumber,
  gender: sent.gender,
  tableOrSeat: sent.tableOrSeat,
  organizedEventTicketID: sent.ticketId,
  extraData1: sent.extraData1,
  extraData2: sent.extraData2,
  partnerReference: sent.partnerReference,
});

test('the books balance', async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

test('the process is unharmed: it logged no error and no secret, and registers like before', async () => {
  expect(api.child.exitCode).toBeNull();
  const lines = api.output().split('\n');
  expect(lines.filter((line) => /"level":[456]0/.test(line) || /^\S*(?:Error|Warning)/.test(line))).toEqual(
    [],
  );
  for (const target of report.targets) {
    expect(api.output()).not.toContain(target.secretKey);
    const partner = new PartnerClient(api.baseUrl, target);
    const body = attendee(target.ticketIds[0]!, { emailAddress: 'last@example.com' });
    expect((await partner.register(body)).body.responseCode).toBe('00');
    // What a polluted prototype would answer for: fields that were not sent.
    expect((await partner.register({})).body.responseMessage).toMatch(
      /fullName: .*emailAddress: .*organizedEventTicketID: /,
    );
    const tickets = (await partner.tickets()).body.responseData as object[];
    expect(Object.keys(tickets[0]!)).toHaveLength(12);
  }
});

test('the fuzzer has a rule of its own for every field', () => {
  expect(Object.keys(RULES)).toEqual(Object.keys(RegistrationRequest.properties));
});
