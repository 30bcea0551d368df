import { mailOperations, type MailFailurePage } from '@floodgate/mail/console';
import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { callerNamed } from '../harness/callers.ts';
import { emptyTables } from '../harness/empty-tables.ts';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { startMailServer, type MailServer } from '../harness/mail-server.ts';
import { runCli } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { addresses, confirm, deliveriesOf, enable, startMails, waitForState } from './mail-process.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

// Who did not get an e-mail, why, and what to do.

test.override('ticket', { capacity: 1_000 });

const [GONE, FULL, GREY, FINE] = addresses(4) as [string, string, string, string];
const NOWHERE = 'nobody@nowhere.invalid';
const REFUSALS: Record<string, { responseCode: number; message: string }> = {
  [GONE]: { responseCode: 550, message: '5.1.1 no such user' },
  [FULL]: { responseCode: 552, message: '5.2.2 mailbox full' },
  [GREY]: { responseCode: 450, message: '4.2.1 try later' },
};
let server: MailServer;

beforeEach(async () => {
  await emptyTables(given.db, 'journal_consumers', 'deliveries', 'mail_suppressions');
  server = await startMailServer();
});

const floodgate = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, ...args);
const mail = (...args: string[]) => floodgate('mail', ...args);
const list = (input: object = {}, scopes: readonly string[] = []): Promise<MailFailurePage> =>
  mailOperations().mailFailures(
    given.db,
    { eventId: given.gala.eventId, ...input },
    callerNamed('jane', (scope) => scopes.includes(scope)),
  );

async function sendToAll() {
  server.onRecipient = (address) => REFUSALS[address];
  await enable(given.db, given.gala);
  await startMails(given.database, { SMTP_URL: server.url });
  await confirm(given.db, given.gala, given.ticketId, [GONE, FULL, GREY, FINE, NOWHERE]);
  await waitUntil('each e-mail has come to its end', async () => {
    const all = await deliveriesOf(given.db, given.gala);
    return all.length === 5 && all.every(({ state }) => state !== 'queued' && state !== 'sending');
  });
}

async function references() {
  const rows = await tablesOf(given.db)
    .selectFrom('registrations')
    .select(['serial', 'pass_code', 'email_address'])
    .where('event_id', '=', given.gala.eventId)
    .execute();
  return Object.fromEntries(
    rows.map(({ serial, pass_code, email_address }) => [
      email_address,
      `GALA-${given.gala.eventId}-${serial}-${pass_code}`,
    ]),
  );
}

test('each who got no e-mail is listed with the reason and the remedy', async () => {
  await sendToAll();
  const passes = await references();
  const { failures, cursor } = await list({}, ['attendees:read']);
  expect(cursor).toBeNull();
  const byAddress = new Map(failures.map((failure) => [failure.emailAddress, failure]));
  expect(new Set(byAddress.keys())).toEqual(new Set([GONE, FULL, GREY, NOWHERE]));
  expect(byAddress.get(GONE)).toMatchObject({
    passReference: passes[GONE],
    kind: 'confirmation',
    state: 'undeliverable',
    reason: '550 5.1.1',
    why: 'the address does not exist',
    remedy: expect.stringContaining(
      `correct the address with "floodgate registration correct ${passes[GONE]}`,
    ),
    nextAttemptAt: null,
  });
  expect(byAddress.get(FULL)).toMatchObject({
    state: 'undeliverable',
    why: 'the mailbox is full',
    remedy: expect.stringMatching(
      /^wait until the cause is gone, then suppressed since .* mail suppressions remove/,
    ),
  });
  expect(byAddress.get(GREY)).toMatchObject({
    state: 'waiting',
    reason: '450 4.2.1',
    since: expect.any(Date),
    nextAttemptAt: expect.any(Date),
    attempts: 1,
  });
  expect(byAddress.get(NOWHERE)).toMatchObject({ state: 'suppressed', reason: 'reserved address' });
});

test('without the scope for attendees, nobody is named', async () => {
  await sendToAll();
  const text = JSON.stringify(await list());
  expect((await list()).failures).toHaveLength(4);
  expect(text).not.toMatch(/@|Jörg/);
});

test('pages continue by cursor, and another event has none of them', async () => {
  await sendToAll();
  const whole = (await list()).failures.map(({ passReference }) => passReference);
  const paged: (string | null)[] = [];
  let after: string | null = null;
  do {
    const page: MailFailurePage = await list({ limit: 1, ...(after !== null && { after }) });
    expect(page.failures).toHaveLength(1);
    paged.push(page.failures[0]!.passReference);
    after = page.cursor;
  } while (after !== null);
  expect(paged).toEqual(whole);
  await given.useEvent();
  expect(await list()).toEqual({ failures: [], cursor: null });
  await expect(list({ after: 'x' })).rejects.toThrow(/after/);
  await expect(list({ eventId: 999_999 })).rejects.toThrow('no such event');
});

test('the command prints what the operator needs, and the remedy works', async () => {
  await sendToAll();
  const { output } = await mail('failures', '--event', String(given.gala.eventId));
  for (const text of [GONE, 'the address does not exist (550 5.1.1)', 'confirmation, undeliverable since'])
    expect(output).toContain(text);
  const passes = await references();
  server.onRecipient = () => undefined;
  const lift = /mail suppressions remove ([0-9a-f]{64})/.exec(output)![1]!;
  expect(await mail('suppressions', 'remove', lift)).toMatchObject({ code: 0 });
  expect(await mail('resend', passes[FULL]!)).toMatchObject({ code: 0 });
  await waitForState(given.db, given.gala, 'sent', 2);
  expect(server.mails.map(({ to }) => to).toSorted()).toEqual([FULL, FINE].toSorted());
  expect((await list()).failures).toHaveLength(3);
  expect((await mail('failures', '--event', String(given.gala.eventId), '--limit', '1')).output).toMatch(
    /cursor: confirmation:\d+ \(there is more\)/,
  );
});

test('a contact of a waiting list is listed without a pass reference', async () => {
  await sql`
    insert into waiting_entries
      (shard_id, serial, id, event_id, ticket_id, partner_id, seats, state, full_name, email_address)
    values (${given.gala.shardId}, 5, gen_random_uuid(), ${given.gala.eventId}, ${given.ticketId},
      ${given.gala.partnerId}, 2, 'offered', 'Ada', ${GONE})`.execute(given.db);
  await sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, reason)
    values (${given.gala.shardId}, ${given.gala.eventId}, 'waiting-offer', '5', 'undeliverable', '550 5.1.1')`.execute(
    given.db,
  );
  expect((await list({}, ['attendees:read'])).failures).toMatchObject([
    { kind: 'waiting-offer', passReference: null, fullName: 'Ada', emailAddress: GONE },
  ]);
});

test('the e-mails of one registration are shown, the oldest first', async () => {
  await sendToAll();
  const passes = await references();
  await floodgate('registration', 'cancel', passes[FINE]!);
  await finalizePending(given.db, given.gala.shardId);
  await waitUntil('the cancellation was sent', () => server.mails.length === 2);
  await waitUntil('it is recorded', async () =>
    (await deliveriesOf(given.db, given.gala, 'cancellation')).some(({ state }) => state === 'sent'),
  );
  const shown = await mailOperations().mailShow(
    given.db,
    { passReference: passes[FINE]! },
    callerNamed('jane'),
  );
  expect(shown).toMatchObject([
    { kind: 'confirmation', state: 'sent', sentAt: expect.any(Date), why: null },
    { kind: 'cancellation', state: 'sent', sentAt: expect.any(Date) },
  ]);
  const { output } = await mail('show', passes[GONE]!);
  expect(output).toMatch(/confirmation\s+undeliverable .*the address does not exist/);
  expect((await mail('show', 'GALA-1-2-3')).output).toContain('no such registration');
});

test('another e-mail than the pass is sent again only if it was tried', async () => {
  await sendToAll();
  const passes = await references();
  const again = (kind: string) => mail('resend', passes[FINE]!, '--kind', kind);
  expect(await again('event-updated')).toMatchObject({
    code: 1,
    output: expect.stringContaining('there is no such e-mail'),
  });
  expect((await again('cancellation')).output).toContain('the registration is confirmed, not cancelled');
  expect((await again('other')).code).toBe(2);
  await floodgate('registration', 'cancel', passes[FINE]!);
  await finalizePending(given.db, given.gala.shardId);
  await waitUntil('the cancellation was sent', () => server.mails.length === 2);
  await waitUntil('it is sent again', async () => {
    await again('cancellation');
    return server.mails.length >= 3;
  });
});
