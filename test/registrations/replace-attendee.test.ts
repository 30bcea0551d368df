import { perform, readAuditLog } from '@floodgate/audit';
import { updateEventAction } from '@floodgate/events/actions';
import { reconcile } from '@floodgate/registrations';
import { replaceAttendeeAction } from '@floodgate/registrations/actions';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { expectFailure } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';

const { test, given } = apiTest({ own: 'finalizes everything in the database' });

test.override('ticket', { capacity: 1 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

const JOE = { fullName: 'Joe Doe', emailAddress: 'joe@example.com' };

const passOf = ({ body }: Answer) => {
  expect(body.responseCode, body.responseMessage).toBe('00');
  return String(body.responseData);
};

const register = async (more: object = {}, headers: Record<string, string> = {}) =>
  passOf(await given.partner.register({ ...attendee(given.ticketId), ...more }, headers));

const replace = (passReference: string, by: object = JOE, client = given.partner) =>
  client.post(`/registrations/${passReference}/attendee`, by);

const finalize = () => finalizePending(given.database.db, given.gala.shardId);
const serialOf = (passReference: string) => Number(passReference.split('-')[2]);
const stateOf = async (passReference: string) =>
  ((await given.partner.registration(passReference)).body.responseData as { state: string }).state;

function expectRefused(answer: Answer, message: string): void {
  expectFailure(answer, '35', 409);
  expect(answer.body.responseMessage).toBe(message);
}

const stored = async (passReference: string) => {
  const { rows } = await sql<Record<string, string | null>>`
    select full_name as name, email_address as email, phone_number as phone, table_or_seat as seat,
      partner_reference as reference
    from registrations where serial = ${serialOf(passReference)}`.execute(given.database.db);
  return rows[0];
};

test('the seat of a registration goes to another attendee: the old pass is revoked, a new one issued, nobody gets in between', async () => {
  const old = await register({ phoneNumber: '12345', tableOrSeat: 'Table 7', partnerReference: 'order-1' });
  await finalize();
  const passReference = passOf(await replace(old));
  expect(passReference).not.toBe(old);
  expect(await stored(passReference)).toEqual({
    name: 'Joe Doe',
    email: 'joe@example.com',
    phone: null,
    seat: 'Table 7',
    reference: 'order-1',
  });
  // The same again gets the same answer, also later.
  expect(passOf(await replace(old))).toBe(passReference);
  expect(await stateOf(old)).toBe('cancelled');
  expect(await stateOf(passReference)).toBe('reserved');
  expectFailure(await given.partner.register(attendee(given.ticketId)), '32', 409);
  await finalize();
  expect(passOf(await replace(old))).toBe(passReference);
  expect(await stateOf(passReference)).toBe('confirmed');
  const entries = (await journalOf(given.database.db, given.gala)).filter(({ serial }) => serial !== null);
  expect(entries.map(({ kind, serial }) => [kind, serial])).toEqual([
    ['confirmed', serialOf(old)],
    ['confirmed', serialOf(passReference)],
    ['cancelled', serialOf(old)],
  ]);
  expect((await given.partner.pass(passReference)).body.responseCode).toBe('00');
  expectFailure(await given.partner.pass(old), '35', 409);
  const another = { ...JOE, fullName: 'Max' };
  expectRefused(await replace(old, another), 'The registration is cancelled');
  expect(passOf(await replace(passReference, another))).not.toBe(passReference);
});

test('before its finalization, too: the old registration is told as cancelled, the new one as confirmed', async () => {
  const old = await register();
  const passReference = passOf(await replace(old));
  await finalize();
  const entries = (await journalOf(given.database.db, given.gala)).filter(({ serial }) => serial !== null);
  expect(entries.map(({ kind, serial }) => `${kind} ${serial}`).toSorted()).toEqual(
    [`cancelled ${serialOf(old)}`, `confirmed ${serialOf(passReference)}`].toSorted(),
  );
});

test('a partner can do so until the deadline, the operator always', async () => {
  const old = await register();
  await perform(
    given.database.db,
    updateEventAction,
    { eventId: given.gala.eventId, cancelUntil: new Date(Date.now() - 1_000) },
    'test',
  );
  const client = new PartnerClient((await startApi()).baseUrl, given.gala);
  expectRefused(await replace(old, JOE, client), 'The deadline for changes has passed');
  const { passReference } = await perform(
    given.database.db,
    replaceAttendeeAction,
    { passReference: old, ...JOE },
    'ada',
  );
  expect(await stored(passReference)).toMatchObject({ name: 'Joe Doe' });
  const [entry] = await readAuditLog(given.database.db, { limit: 1 });
  expect(entry).toMatchObject({ actor: 'ada', action: 'registration.replace' });
  expect(JSON.stringify(entry)).not.toContain('joe@example.com');
});

let other: Awaited<ReturnType<typeof startInProcessApi>> | undefined;
/** Another API, which has not read the event yet. */
const startApi = async () => (other ??= await startInProcessApi({ DATABASE_URL: given.database.url }));
afterAll(() => other?.close());

test('at two APIs at once, one replacement is made', async () => {
  const clients = [given.partner, new PartnerClient((await startApi()).baseUrl, given.gala)];
  for (let round = 0; round < 20; round++) {
    const old = await register();
    const passes = (await Promise.all(clients.map((client) => replace(old, JOE, client)))).map(passOf);
    expect(new Set(passes).size).toBe(1);
    await given.partner.cancel(passes[0]!);
  }
});

test('held, cancelled, unknown or somebody else’s: refused', async () => {
  await given.useTicket({ capacity: 10 });
  expectRefused(
    await replace(await register({}, { 'hold-for': '60' })),
    'The registration is held; confirm it first',
  );
  const cancelled = await register();
  await given.partner.cancel(cancelled);
  expectRefused(await replace(cancelled), 'The registration is cancelled');
  const old = await register();
  const stranger = new PartnerClient(given.api.baseUrl, await createFixture(given.database.db));
  expectFailure(await replace(old, JOE, stranger), '34', 404);
  expectFailure(await replace(old.replace(/\d{3}$/, '000')), '34', 404);
  expectFailure(await replace(old, { ...JOE, emailAddress: 'joe' }), '11', 422);
});

test('an event that allows each attendee once refuses somebody who has a seat, and takes the same address again', async () => {
  await given.useEvent({ duplicatePolicy: 'reject' });
  await given.useTicket({ capacity: 10 });
  const [jane] = [await register({ emailAddress: 'jane@example.com' }), await register(JOE)];
  expectFailure(await replace(jane), '33', 409);
  const again = passOf(await replace(jane, { fullName: 'Jane Roe', emailAddress: 'jane@example.com' }));
  expect(await stored(again)).toMatchObject({ name: 'Jane Roe' });
  expectFailure(
    await given.partner.register(attendee(given.ticketId, { emailAddress: 'jane@example.com' })),
    '33',
    409,
  );
});
