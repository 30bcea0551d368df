import { perform } from '@floodgate/audit';
import { contactPartnerAction } from '@floodgate/partners/actions';
import { addNotice, findNotice } from '@floodgate/webhooks/notices';
import type { Endpoint } from '@floodgate/webhooks/endpoints';
import PostalMime from 'postal-mime';
import { sql } from 'kysely';
import { beforeEach, expect, onTestFinished } from 'vitest';
import { emptyTables } from '../harness/empty-tables.ts';
import { createFixture } from '../harness/fixture.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { passTime } from '../harness/pass-time.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { runCli } from '../harness/service-process.ts';
import { startReceiver } from '../harness/webhook-receiver.ts';
import { addWebhook, changeWebhook, confirmSome } from '../harness/webhooks.ts';
import { startMailProcess, startMails } from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// A partner is told that a webhook of its own was given up: once, whatever dies, and nobody else learns its address.

const CONTACT = 'ops@partner.floodgate-tests.org';
const FIVE_DAYS = 5 * 86_400;

test.beforeAll(async () => {
  keepPrivate([CONTACT]);
});
beforeEach(async () => {
  await emptyTables(
    given.database.db,
    'journal_consumers',
    'webhook_endpoints',
    'deliveries',
    'mail_suppressions',
  );
  await setContact(CONTACT);
});

const setContact = (contactEmail: string | null, { partnerId } = given.gala) =>
  perform(given.database.db, contactPartnerAction, { partnerId, contactEmail }, 'test');

/** A webhook that was given up, and of which its partner is to be told. */
async function addGivenUp(of = given.gala): Promise<Endpoint> {
  const { endpoint } = await addWebhook(given.database.db, of, {
    url: 'https://partner.example/hook?token=s3cret-of-theirs',
    description: 'production <b>',
  });
  await confirmSome(given.database.db, of, await of.addTicket(), 3);
  await giveUp(endpoint);
  return endpoint;
}

/** As the webhooks' own turns do it. */
async function giveUp(endpoint: Endpoint): Promise<void> {
  const { shardId, id } = endpoint;
  const of = { shard_id: shardId, id };
  await given.database.db.transaction().execute(async (transaction) => {
    for (const [table, set] of [
      ['webhook_endpoints', sql`disabled_reason = 'gone'`],
      ['journal_consumers', sql`state = 'disabled'`],
    ] as const)
      await sql`update ${sql.table(table)} set ${set} where shard_id = ${of.shard_id} and id = ${of.id}`.execute(
        transaction,
      );
    await addNotice(transaction, endpoint);
  });
}

const stateOf = (endpoint: Endpoint) => findNotice(given.database.db, endpoint);
const dueOf = async ({ shardId, id }: Endpoint) => {
  const { rows } = await sql<{ dueInMinutes: number }>`
    select extract(epoch from due_at - now())::float8 / 60 as "dueInMinutes" from deliveries
    where shard_id = ${shardId} and subject = ${id}`.execute(given.database.db);
  return rows[0]!;
};
const ended = (endpoint: Endpoint, state: string, reason: string | null = null) =>
  waitUntil(`its notice is ${state}, ${reason}`, async () => {
    const notice = await stateOf(endpoint);
    return notice?.state === state && notice.reason === reason;
  });
/** Makes deliveries of a shard due, and ends the leases of killed processes. */
const makeDue = ({ shardId }: Endpoint) =>
  sql`update deliveries set due_at = now() where shard_id = ${shardId}`.execute(given.database.db);

test('a receiver that has failed for five days: its partner gets one e-mail, which says how to go on', async () => {
  const receiver = await startReceiver((_, response) => void response.writeHead(500).end());
  onTestFinished(() => receiver.close());
  const { endpoint } = await addWebhook(given.database.db, given.gala, {
    url: `${receiver.url}?token=s3cret-of-theirs`,
    description: 'production <b>',
  });
  await confirmSome(given.database.db, given.gala, await given.gala.addTicket(), 3);
  const server = await startMailServer();
  const env = { SMTP_URL: server.url, WEBHOOK_ALLOW_PRIVATE: 'true', DELIVERIES: 'mail,webhook' };
  const processes = [await startMails(given.database, env), await startMails(given.database, env)];
  await waitUntil('it has failed', () => receiver.deliveries.length > 0);
  await waitUntil('that is noted', async () => {
    const consumers = given.database.db.selectFrom('journal_consumers').select('failures');
    return (await consumers.where('id', '=', endpoint.id).executeTakeFirstOrThrow()).failures > 0;
  });
  await passTime(given.database.db, given.gala.shardId, FIVE_DAYS);
  await ended(endpoint, 'sent');

  const [mail] = server.mails;
  const { subject, text, html, from, headers } = await new PostalMime().parse(mail!.content);
  expect([mail!.to, subject, from?.address]).toEqual([
    CONTACT,
    'Your webhook for Gala was disabled',
    'gala@floodgate-tests.org',
  ]);
  expect(headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
  for (const part of [
    endpoint.id,
    `127.0.0.1:${receiver.port}/hook`,
    given.gala.eventRef,
    'accepted no message for five days',
    'Failing since',
    '3 changes',
    `POST /api/v1/webhooks/${endpoint.id}/resume`,
  ]) {
    expect(text).toContain(part);
    expect(html).toContain(part);
  }
  expect(html).toContain('production &#60;b&#62;');
  expect(mail!.content + text! + html!).not.toContain('s3cret-of-theirs');
  for (const process of processes) await process.end();
  const logs = processes.map(({ output }) => output()).join('');
  expect(logs.match(/a webhook was disabled/g)).toHaveLength(1);
  expect(logs.match(/a partner was notified/g)).toHaveLength(1);
  expect(logs).not.toContain(CONTACT);
  expect(server.mails).toHaveLength(1);
});

test('two processes that see many send one e-mail each, and the audit log knows no address', async () => {
  const server = await startMailServer();
  const endpoints: Endpoint[] = [];
  for (let index = 0; index < 8; index += 1) endpoints.push(await addGivenUp());
  await Promise.all([1, 2].map(() => startMails(given.database, { SMTP_URL: server.url })));
  for (const endpoint of endpoints) await ended(endpoint, 'sent');
  const ids = server.mails.map(({ messageId }) => messageId);
  expect([ids.length, new Set(ids).size]).toEqual([endpoints.length, endpoints.length]);
  const { rows } = await sql<{ text: string }>`
    select row_to_json(audit_log)::text as text from audit_log`.execute(given.database.db);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.map(({ text }) => text).join('\n')).not.toContain(CONTACT);
});

test('a process that is killed while the server thinks loses no notice; the second e-mail is the same message', async () => {
  const server = await startMailServer();
  const endpoint = await addGivenUp();
  const asked: string[] = [];
  server.onMessage = ({ messageId }) => {
    asked.push(messageId);
    return asked.length === 1 ? new Promise(() => {}) : undefined;
  };
  const killed = await startMailProcess(given.database, { SMTP_URL: server.url });
  await waitUntil('the server thinks', () => asked.length === 1);
  await killed.end('SIGKILL');
  expect(await stateOf(endpoint)).toMatchObject({ state: 'sending' });
  // Its lease has not expired: other processes leave it alone.
  await startMails(given.database, { SMTP_URL: server.url });
  const other = await addGivenUp();
  await ended(other, 'sent');
  expect(asked).toHaveLength(2);
  await makeDue(endpoint);
  await ended(endpoint, 'sent');
  expect(server.mails).toHaveLength(2);
  expect(asked).toEqual([asked[0], asked[1], asked[0]]);
  expect(asked[1]).not.toBe(asked[0]);
});

test('an e-mail whose outcome cannot be written is not sent again while its process lives', async () => {
  const server = await startMailServer();
  const endpoint = await addGivenUp();
  await sql`alter table deliveries add constraint not_now check (state <> 'sent')`.execute(given.database.db);
  const allow = () =>
    sql`alter table deliveries drop constraint if exists not_now`.execute(given.database.db);
  onTestFinished(async () => void (await allow()));
  const { output } = await startMails(given.database, { SMTP_URL: server.url });
  await waitUntil('it says so', () => output().includes('cannot record outcomes of e-mails'));
  await allow();
  await ended(endpoint, 'sent');
  expect(server.mails).toHaveLength(1);
});

test('without a contact it waits for one, for 30 days', async () => {
  const server = await startMailServer();
  const stranger = await createFixture(given.database.db);
  await setContact(null);
  const [soon, old] = [await addGivenUp(), await addGivenUp(stranger)];
  await sql`
    update deliveries set created_at = ${new Date(Date.now() - 31 * 86_400_000)}
    where shard_id = ${old.shardId} and subject = ${old.id}`.execute(given.database.db);
  await startMails(given.database, { SMTP_URL: server.url });
  await ended(soon, 'queued', 'no contact');
  await ended(old, 'suppressed', 'no contact');
  for (const partner of [given.gala, stranger]) await setContact(CONTACT, partner);
  await makeDue(soon);
  await ended(soon, 'sent');
  expect(server.mails).toHaveLength(1);
});

test('refused for now it comes again; refused for good it ends, and the address gets no more', async () => {
  const server = await startMailServer();
  let refusal = { responseCode: 450, message: `4.2.2 <${CONTACT}> is full` };
  server.onRecipient = () => refusal;
  const endpoint = await addGivenUp();
  const { output } = await startMails(given.database, { SMTP_URL: server.url });
  await ended(endpoint, 'retry', '450 4.2.2');
  refusal = { responseCode: 550, message: `5.1.1 <${CONTACT}> is nobody` };
  await makeDue(endpoint);
  await ended(endpoint, 'undeliverable', '550 5.1.1');
  await waitUntil('the log says so', () => output().includes('a partner could not be notified'));
  const next = await addGivenUp();
  await ended(next, 'suppressed', 'suppressed');
  expect(server.mails).toEqual([]);
});

test('a server that is away costs no attempt', async () => {
  const server = await startMailServer();
  const endpoint = await addGivenUp();
  await server.stop();
  await startMails(given.database, { SMTP_URL: server.url });
  await waitUntil('it was tried', async () => (await stateOf(endpoint))?.reason === 'ESOCKET');
  const again = await startMailServer(Number(new URL(server.url).port));
  await makeDue(endpoint);
  await ended(endpoint, 'sent');
  const { attempts } = await tablesOf(given.database.db)
    .selectFrom('deliveries')
    .select('attempts')
    .where('subject', '=', endpoint.id)
    .executeTakeFirstOrThrow();
  expect([attempts, again.mails.length]).toEqual([1, 1]);
});

test('nobody is told of what was resumed, of a test event, or at an address that leads nowhere', async () => {
  const server = await startMailServer();
  const trial = await createFixture(given.database.db, 'allow', 'test');
  await setContact(CONTACT, trial);
  const nowhere = await createFixture(given.database.db);
  await setContact('ops@partner.example', nowhere);
  const [resumed, ofTest, reserved] = [
    await addGivenUp(),
    await addGivenUp(trial),
    await addGivenUp(nowhere),
  ];
  await changeWebhook(given.database.db, resumed, 'resume');
  await startMails(given.database, { SMTP_URL: server.url });
  await ended(resumed, 'cancelled', 'resumed');
  await ended(ofTest, 'suppressed', 'test event');
  await ended(reserved, 'queued', 'no contact');
  expect(server.mails).toEqual([]);
});

test('given up again within the hour, it is told an hour after the e-mail before', async () => {
  const server = await startMailServer();
  const endpoint = await addGivenUp();
  await startMails(given.database, { SMTP_URL: server.url });
  await ended(endpoint, 'sent');
  await giveUp(endpoint);
  const other = await addGivenUp();
  await ended(other, 'sent');
  expect(await stateOf(endpoint)).toMatchObject({ state: 'queued' });
  const { dueInMinutes } = await dueOf(endpoint);
  expect(dueInMinutes).toBeGreaterThan(55);
  await makeDue(endpoint);
  await ended(endpoint, 'sent');
  // Each edition is another message.
  await giveUp(endpoint);
  await makeDue(endpoint);
  await ended(endpoint, 'sent');
  const ids = server.mails.map(({ messageId }) => messageId);
  expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
});

test('the operator sees what became of it', async () => {
  const endpoint = await addGivenUp();
  await setContact(null);
  const show = async () =>
    (await runCli({ DATABASE_URL: given.database.url }, 'webhook', 'show', endpoint.id)).output;
  expect(await show()).toMatch(/e-mail to the partner\s+queued\n/);
  await startMails(given.database, { MAILCATCHER_SIZE: '1' });
  await ended(endpoint, 'queued', 'no contact');
  expect(await show()).toMatch(/e-mail to the partner\s+queued, no contact\n/);
  await setContact(CONTACT);
  await makeDue(endpoint);
  await ended(endpoint, 'sent');
  expect(await show()).toMatch(/e-mail to the partner\s+sent\n/);
});

test('without a server it waits; in the mailcatcher it is shown', async () => {
  const endpoint = await addGivenUp();
  const silent = await startMails(given.database, {});
  expect(silent.output()).toContain('no SMTP_URL');
  await silent.end();
  expect(await stateOf(endpoint)).toMatchObject({ state: 'queued', reason: null });
  const { baseUrl } = await startMails(given.database, { MAILCATCHER_SIZE: '3' });
  await ended(endpoint, 'sent');
  const page = await (await fetch(`${baseUrl}/mailcatcher/1`)).text();
  expect(page).toContain('Your webhook for Gala was disabled');
  const mail = await (await fetch(`${baseUrl}/mailcatcher/1/mail.html`)).text();
  expect(mail).toContain(`POST /api/v1/webhooks/${endpoint.id}/resume`);
});
