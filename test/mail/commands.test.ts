import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { digestOf } from '@floodgate/mail/kinds/refusals';
import { emptyTables } from '../harness/empty-tables.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { runCli } from '../harness/service-process.ts';
import { addresses, confirm, enable, startMails, waitForState } from './mail-process.ts';
import { eventTest } from '../harness/event-test.ts';

const { test, given } = eventTest({ own: 'starts processes that work on everything in the database' });

test.override('ticket', {});

beforeEach(async () => {
  await emptyTables(given.database.db, 'journal_consumers', 'deliveries', 'mail_suppressions');
});

const mail = (...args: string[]) => runCli({ DATABASE_URL: given.database.url }, 'mail', ...args);
const ofEvent = (name: string, ...options: string[]) =>
  mail(name, String(given.gala.eventId), ...options, '--by', 'jane');
const statusOf = async () => {
  const { output } = await mail('status', String(given.gala.eventId), '--json');
  return (JSON.parse(output) as object[])[0];
};

test('e-mails are switched on, paused, resumed and switched off, each noted once', async () => {
  expect((await ofEvent('pause')).output).toContain('e-mails of this event are not enabled');
  expect(await ofEvent('enable')).toMatchObject({ code: 0 });
  const again = await ofEvent('enable');
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('e-mails are already enabled')]);
  for (const [name, state] of [
    ['pause', 'paused'],
    ['pause', 'paused'],
    ['resume', 'active'],
    ['disable', 'off'],
  ] as const)
    expect((await ofEvent(name)).output).toContain(`e-mails of event ${given.gala.eventId} are ${state}`);
  const { rows } = await sql<{ action: string; actor: string }>`
    select action, actor from audit_log where subject = ${`event:${given.gala.eventId}`} and action like 'mail.%'
    order by id`.execute(given.database.db);
  expect(rows.map(({ action }) => action)).toEqual([
    'mail.enable',
    'mail.pause',
    'mail.resume',
    'mail.disable',
  ]);
  expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['jane']));
  expect((await mail('enable', '999999')).output).toContain('no such event');
});

test('switched on again, nobody gets a second one; from now on, nobody who was confirmed before gets one', async () => {
  const server = await startMailServer();
  await startMails(given.database, { SMTP_URL: server.url });
  await confirm(given.database.db, given.gala, given.ticketId, addresses(2, 'first'));
  await enable(given.database.db, given.gala);
  await waitForState(given.database.db, given.gala, 'sent', 2);
  await ofEvent('disable');
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1, 'meanwhile'));
  await ofEvent('enable', '--from-now');
  await confirm(given.database.db, given.gala, given.ticketId, addresses(1, 'later'));
  await waitForState(given.database.db, given.gala, 'sent', 3);
  await ofEvent('disable');
  await ofEvent('enable');
  await waitForState(given.database.db, given.gala, 'sent', 4);
  expect(server.mails.map(({ to }) => to.split('-')[0])).toEqual(['first', 'first', 'later', 'meanwhile']);
});

test('the status tells what became of e-mails and why; an address can have them again', async () => {
  const server = await startMailServer();
  const [gone, here, busy] = addresses(3) as [string, string, string];
  server.onRecipient = (address) => {
    if (address === gone) return { responseCode: 550, message: '5.1.1 no such user' };
    return address === busy ? { responseCode: 450, message: '4.2.1 try later' } : undefined;
  };
  await ofEvent('enable');
  expect(await statusOf()).toMatchObject({ state: 'active', oldestMs: null, sent: 0 });
  await confirm(given.database.db, given.gala, given.ticketId, [gone, here, busy]);
  expect(await statusOf()).toMatchObject({ oldestMs: expect.any(Number) });
  const process = await startMails(given.database, { SMTP_URL: server.url });
  await waitForState(given.database.db, given.gala, 'undeliverable', 1);
  await waitForState(given.database.db, given.gala, 'sent', 1);
  await waitForState(given.database.db, given.gala, 'retry', 1);
  expect(await statusOf()).toMatchObject({
    sent: 1,
    undeliverable: 1,
    retry: 1,
    possiblySentTwice: 0,
    reasons: { '550 5.1.1': 1, '450 4.2.1': 1 },
  });
  const metrics = await (await fetch(`${process.baseUrl}/metrics`)).text();
  expect(metrics).toContain('floodgate_delivery_mails_total{kind="confirmation",outcome="undeliverable"} 1');
  expect(metrics).toMatch(/^floodgate_delivery_deliveries\{kind="confirmation",state="retry"\} 1$/m);
  const list = await mail('suppressions', 'list');
  expect(list.output).toContain(digestOf(gone));
  expect(list.output).not.toContain(gone);
  const removed = await mail('suppressions', 'remove', gone.toUpperCase());
  expect([removed.code, removed.output]).toEqual([0, 'this address gets e-mails again\n']);
  expect((await mail('suppressions', 'remove', digestOf(gone))).code).toBe(1);
  const { rows } = await sql<{ text: string }>`
    select row_to_json(audit_log)::text as text from audit_log where action = 'mail.unsuppress'`.execute(
    given.database.db,
  );
  expect(rows[0]!.text).not.toContain(gone);
});

test('whether attendees hear of cancellations is a setting of the event, in the audit log', async () => {
  const update = (...options: string[]) =>
    runCli({ DATABASE_URL: given.database.url }, 'event', 'update', String(given.gala.eventId), ...options);
  const both = ['--mail-operator-cancels', 'false', '--mail-partner-cancels', 'true'];
  const { code, output } = await update(...both, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(output)).toMatchObject({ mailOperatorCancels: false, mailPartnerCancels: true });
  expect(await update('--mail-partner-cancels', 'yes')).toEqual({
    code: 2,
    output: expect.stringContaining('--mail-partner-cancels: true or false'),
  });
  const { rows } = await sql<{ before: object; after: object }>`
    select before, after from audit_log
    where action = 'event.update' and subject = ${`event:${given.gala.eventId}`}`.execute(given.db);
  expect(rows).toMatchObject([
    {
      before: { mailOperatorCancels: true, mailPartnerCancels: false },
      after: { mailOperatorCancels: false, mailPartnerCancels: true },
    },
  ]);
});
