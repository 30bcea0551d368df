import { perform, readAuditLog } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { failBatch, reconcile, redriveBatches } from '@floodgate/registrations';
import { afterAll, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending, journalOf, pendingBatches } from '../harness/journal.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { startApiProcess, runCli } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

const HOUR_MS = 3_600_000;

test.override('ticket', { capacity: 1 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const codeOf = ({ body }: Answer) => body.responseCode;

async function register(differing: Record<string, unknown> = {}): Promise<string> {
  const answer = await given.partner.register(attendee(given.ticketId, differing));
  expect(codeOf(answer)).toBe('00');
  return String(answer.body.responseData);
}

const expectCancelled = (answer: Answer, passReference: string) =>
  expect([answer.status, answer.body]).toEqual([
    200,
    { responseCode: '00', responseMessage: 'Successful', responseData: passReference },
  ]);

const finalize = () => finalizePending(given.database.db, given.gala.shardId);

/** Returns the event's journal entries: changes of registrations and of tickets. */
const journal = async () =>
  (await journalOf(given.database.db, given.gala)).map(({ kind, serial, ticketId: ticket }) =>
    ticket ? kind : `${serial} ${kind}`,
  );

const serialOf = (passReference: string) => passReference.split('-')[2]!;

test('the seat goes back at once, and to cancel once more changes nothing', async () => {
  const passReference = await register();
  expect(codeOf(await given.partner.register(attendee(given.ticketId)))).toBe('32');
  expectCancelled(await given.partner.cancel(passReference), passReference);
  await register();
  expectCancelled(await given.partner.cancel(passReference), passReference);
  expect(codeOf(await given.partner.register(attendee(given.ticketId)))).toBe('32');
});

test('Get Registration and the list say so', async () => {
  const passReference = await register();
  await finalize();
  await given.partner.cancel(passReference);
  const { responseData: status } = (await given.partner.registration(passReference)).body;
  expect(status).toMatchObject({
    passReference,
    state: 'cancelled',
    dateCancelled: expect.any(String) as string,
  });
  await finalize();
  const { body } = await given.partner.request('/api/v1/events/registrations');
  const { registrations } = body.responseData as { registrations: object[] };
  expect(registrations).toMatchObject([{ passReference, state: 'confirmed', dateCancelled: null }, status!]);
});

test('what has failed can be cancelled, and is left out when the rest is given another go', async () => {
  await given.useTicket({ capacity: 10 });
  const answers = await Promise.all([1, 2].map(() => given.partner.register(attendee(given.ticketId))));
  const [first, second] = answers.map(({ body }) => String(body.responseData));
  const { batchIds, shardId } = await pendingBatches(given.database.db, given.gala.shardId);
  for (const batchId of batchIds) await failBatch(given.database.db, shardId, batchId, 'XX000');
  expectCancelled(await given.partner.cancel(first!), first!);
  await redriveBatches(given.database.db, { shardId, limit: 100 });
  await finalize();
  const kindsOf = async (passReference: string) =>
    (await journal())
      .filter((entry) => entry.startsWith(`${serialOf(passReference)} `))
      .map((entry) => entry.split(' ')[1]);
  expect(await kindsOf(first!)).toEqual(['failed', 'cancelled']);
  expect(await kindsOf(second!)).toEqual(['failed', 'confirmed']);
});

test('a registration of somebody else, or of nobody, is not there', async () => {
  const passReference = await register();
  const other = await createFixture(given.database.db);
  const stranger = new PartnerClient(given.api.baseUrl, other);
  const samePrefix = passReference.replace(String(given.gala.eventId), String(other.eventId));
  for (const wrong of [
    `${passReference}0`,
    passReference.replace('GALA', 'BALL'),
    `${passReference.slice(0, -1)}x`,
  ])
    expectFailure(await given.partner.cancel(wrong), '34', 404);
  for (const wrong of [passReference, samePrefix]) expectFailure(await stranger.cancel(wrong), '34', 404);
  expect((await given.partner.registration(passReference)).body.responseData).toMatchObject({
    state: 'reserved',
  });
});

test('a body is not read, whatever it is', async () => {
  for (const [type, body] of [
    ['application/json', ''],
    ['application/json', '{"reason":"ill"}'],
    ['text/plain', 'please'],
    ['application/x-www-form-urlencoded', 'a=b'],
  ] as const) {
    const passReference = await register();
    const path = `/api/v1/events/registrations/${passReference}/cancel`;
    const answer = await given.partner.request(path, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expectCancelled(answer, passReference);
  }
});

test('after the deadline a partner is refused, and an operator is not', async () => {
  await given.useTicket();
  const passReference = await register();
  const setDeadline = (inMs: number | null) => {
    const cancelUntil = inMs === null ? null : new Date(Date.now() + inMs);
    return perform(
      given.database.db,
      updateEventAction,
      { eventId: given.gala.eventId, cancelUntil },
      'test',
    );
  };
  // Polls with another registration: a cancellation before the deadline is known could not be undone.
  const isOver = async () => codeOf(await given.partner.cancel(await register())) === '35';
  await setDeadline(-HOUR_MS);
  await waitUntil('the deadline is known', isOver);
  const refused = await given.partner.cancel(passReference);
  expectFailure(refused, '35', 409);
  expect(refused.body.responseMessage).toMatch(
    /^The registration is (reserved|confirmed), and the cancellation deadline has passed$/,
  );
  await setDeadline(HOUR_MS);
  await waitUntil(
    'it may be cancelled',
    async () => codeOf(await given.partner.cancel(passReference)) === '00',
  );
  await setDeadline(-HOUR_MS);
  await waitUntil('the deadline is known once more', isOver);
  // The registration is cancelled already, so the deadline does not matter.
  expectCancelled(await given.partner.cancel(passReference), passReference);
  const second = await register();
  const { code, output } = await runCli(
    { DATABASE_URL: given.database.url },
    'registration',
    'cancel',
    second,
  );
  expect([code, output]).toEqual([0, `cancelled: ${second}\n`]);
  expect((await given.partner.registration(second)).body.responseData).toMatchObject({ state: 'cancelled' });
});

test('an operator’s cancellation is noted, without the pass reference', async () => {
  const passReference = await register();
  const env = { DATABASE_URL: given.database.url };
  await runCli(env, 'registration', 'cancel', passReference, '--by', 'jane');
  const again = await runCli(env, 'registration', 'cancel', passReference);
  expect([again.code, again.output]).toEqual([0, `cancelled: ${passReference} (already)\n`]);
  const entries = (await readAuditLog(given.database.db, { limit: 100 })).filter(
    ({ action }) => action === 'registration.cancel',
  );
  const subject = `registration:${serialOf(passReference)}`;
  expect(entries.filter((entry) => entry.subject === subject)).toMatchObject([
    { actor: 'jane', before: { state: 'reserved' }, after: { state: 'cancelled' } },
  ]);
  const wrong = await runCli(env, 'registration', 'cancel', `${passReference.slice(0, -10)}1234567890`);
  expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining('no such registration')]);
});

test('an attendee that may register once may register again', async () => {
  const once = await createFixture(given.database.db, 'reject');
  const of = new PartnerClient(given.api.baseUrl, once);
  const jane = attendee(await once.addTicket());
  const passReference = String((await of.register(jane)).body.responseData);
  expect(codeOf(await of.register(jane))).toBe('33');
  await of.cancel(passReference);
  expect(codeOf(await of.register(jane))).toBe('00');
  expect(codeOf(await of.register(jane))).toBe('33');
});

test('under load on two APIs, with a worker beside: no seat is sold twice, none is lost', async () => {
  const capacity = 12;
  const tickets = await Promise.all([1, 2].map(() => given.gala.addTicket({ capacity })));
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url, BATCH_LIMIT: '8' };
  const apis = [await startApiProcess(env), await startApiProcess(env)];
  const partners = apis.map(({ baseUrl }) => new PartnerClient(baseUrl, given.gala));
  const held: string[] = [];
  const cancelled: string[] = [];
  const seen = new Set<string>();
  const over = new AbortController();
  const lane = async (index: number) => {
    for (let turn = 0; turn < 60; turn++) {
      const caller = partners[(index + turn) % partners.length]!;
      const jane = attendee(tickets[turn % 2]!);
      // A busy machine may answer 90: nothing is reserved.
      const answer = await waitUntil('an answer', async () => {
        const said = await caller.register(jane);
        return codeOf(said) !== '90' && said;
      });
      seen.add(codeOf(answer));
      if (codeOf(answer) === '00') held.push(String(answer.body.responseData));
      // Cancels the oldest registration, in every second turn by two callers at once.
      const passReference = held.length > 1.5 * capacity ? held.shift() : undefined;
      if (!passReference) continue;
      const twice = await Promise.all(partners.slice(turn % 2).map((one) => one.cancel(passReference)));
      for (const one of twice) expectCancelled(one, passReference);
      cancelled.push(passReference);
    }
  };
  const worker = async () => {
    while (!over.signal.aborted) await finalize();
  };
  const finalizing = worker();
  await Promise.all(Array.from({ length: 16 }, (_, index) => lane(index)));
  over.abort();
  await finalizing;
  await finalize();
  for (const one of apis) expect(await one.end(), one.output()).toBe(0);
  expect(seen).toEqual(new Set(['00', '32']));
  expect(cancelled.length).toBeGreaterThan(100);
  const rows = await tablesOf(given.database.db)
    .selectFrom('registrations')
    .select(['serial', 'cancelled_at'])
    .where('event_id', '=', given.gala.eventId)
    .execute();
  const stillHeld = rows.filter((row) => row.cancelled_at === null).map((row) => String(row.serial));
  expect(stillHeld.toSorted()).toEqual(held.map(serialOf).toSorted());
  const told = Map.groupBy(
    (await journal()).filter((entry) => entry.includes(' ')),
    (entry) => entry.split(' ')[0]!,
  );
  for (const passReference of held)
    expect(told.get(serialOf(passReference))).toEqual([`${serialOf(passReference)} confirmed`]);
  for (const serial of cancelled.map(serialOf))
    expect([[`${serial} cancelled`], [`${serial} confirmed`, `${serial} cancelled`]]).toContainEqual(
      told.get(serial),
    );
  expect(await reconcile(given.database.db)).toEqual([]);
});
