import { verifyPass } from '@floodgate/passes';
import PostalMime from 'postal-mime';
import { Webhook } from 'standardwebhooks';
import { expect, inject } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { isOutboxEmpty, journalOf } from '../harness/journal.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { fetchPassKeys, readQrCode } from '../harness/passes.ts';
import { keepPrivate } from '../harness/private-data.ts';
import {
  readCli,
  runCli,
  startApiProcess,
  startDeliveryProcess,
  startWorkerProcess,
} from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Told } from '../harness/webhook-receiver.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

// What follows "00", from end to end: every process, a real SMTP server, a real receiver.

let env: { DATABASE_URL: string; QUEUE_URL: string; QUEUE_NAMESPACE: string };

test.beforeAll(async () => {
  const queueUrl = inject('redisUrl') ?? given.database.url;
  const QUEUE_NAMESPACE = queueUrl === given.database.url ? 'floodgate' : `deliveries_${process.pid}`;
  env = { DATABASE_URL: given.database.url, QUEUE_URL: queueUrl, QUEUE_NAMESPACE };
});

test('registered, confirmed, the attendee has a pass that opens the door, the partner is told, and the books say so', async () => {
  const [mailServer, receiver] = [await startMailServer(), await startReceiverInTest()];
  const [api, worker, delivery] = await Promise.all([
    startApiProcess({ ...env, WEBHOOK_ALLOW_PRIVATE: 'true' }),
    startWorkerProcess(env),
    startDeliveryProcess({
      DATABASE_URL: given.database.url,
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'The Gala <gala@floodgate-tests.org>',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }),
  ]);
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket({ capacity: 2 });
  const partner = new PartnerClient(api.baseUrl, fixture);
  expect((await runCli(env, 'mail', 'enable', String(fixture.eventId))).code).toBe(0);
  const created = await partner.request('/api/v1/webhooks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url }),
  });
  const { secret } = created.body.responseData as { secret: string };
  keepPrivate([secret]);

  const guests = ['ann', 'ben'].map((name) => ({
    ...attendee(ticketId),
    emailAddress: `${name}@mail.floodgate-tests.org`,
  }));
  keepPrivate(guests.map(({ emailAddress }) => emailAddress));
  const registered = await Promise.all(guests.map((guest) => partner.register(guest)));
  const references = registered.map(({ body }) => String(body.responseData));

  await waitUntil('both have an e-mail', () => mailServer.mails.length === 2);
  const keys = await fetchPassKeys(api.baseUrl);
  for (const [index, { emailAddress }] of guests.entries()) {
    const mail = mailServer.mails.find(({ to }) => to === emailAddress)!;
    const { attachments } = await PostalMime.parse(mail.content);
    const picture = attachments.find(({ mimeType }) => mimeType === 'image/png')!;
    const token = readQrCode(new Uint8Array(picture.content as ArrayBuffer));
    const [, , serial] = references[index]!.split('-');
    expect(verifyPass(token, keys)).toMatchObject({
      eventId: fixture.eventId,
      ticketId,
      serial: Number(serial),
    });
    const shown = await partner.pass(references[index]!);
    expect(shown.body.responseData).toMatchObject({ pass: token });
  }

  const told = () => receiver.told().flatMap(({ data }) => data.entries);
  await waitUntil('the partner was told', () => told().length === 3);
  // The ticket is sold out before its last registration is finalized.
  const types = told().map(({ type }) => type);
  expect(types.toSorted()).toEqual(['registration.confirmed', 'registration.confirmed', 'ticket.sold_out']);
  expect(new Set(told().flatMap(({ passReference }) => passReference ?? []))).toEqual(new Set(references));
  for (const { body, headers } of receiver.deliveries)
    expect((new Webhook(secret).verify(body, headers) as Told).type).toBe('event.changes');

  const status = () => readCli(env, 'queue', 'status');
  const nothingLeft = {
    consumers: 1,
    behind: 0,
    failing: 0,
    disabled: 0,
    oldestMs: null,
    oldestRetryMs: null,
  };
  // What has arrived is recorded a moment later.
  await expect.poll(status).toMatchObject({ deliveries: { mail: nothingLeft, webhook: nothingLeft } });
  const metrics = await (await fetch(`${delivery.baseUrl}/metrics`)).text();
  for (const kind of ['mail', 'webhook'])
    for (const oldest of ['oldest_undelivered', 'oldest_retry'])
      expect(metrics).toContain(`floodgate_delivery_${oldest}_seconds{kind="${kind}"} 0`);
  expect(metrics).toMatch(/^floodgate_delivery_pool_connections\{pool="main",state="idle"\} [1-9]/m);
  expect((await fetch(`${delivery.baseUrl}/health/ready`)).status).toBe(200);
  expect((await runCli(env, 'reconcile')).code).toBe(0);
  for (const service of [api, worker, delivery]) expect(await service.end()).toBe(0);
});

test('four callers confirm each hold at two APIs under load: journal, list, webhook and e-mail have it once', async () => {
  const [holds, callers, others] = [100, 4, 200];
  const [mailServer, receiver] = [await startMailServer(), await startReceiverInTest()];
  const apis = await Promise.all(
    [1, 2].map(() => startApiProcess({ ...env, WEBHOOK_ALLOW_PRIVATE: 'true' })),
  );
  const worker = await startWorkerProcess(env);
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket();
  const partners = apis.map(({ baseUrl }) => new PartnerClient(baseUrl, fixture));
  const [partner] = partners as [PartnerClient];
  const guests = Array.from({ length: holds + others }, (_, index) => ({
    ...attendee(ticketId),
    emailAddress: `guest-${index}@mail.floodgate-tests.org`,
  }));
  keepPrivate(guests.map(({ emailAddress }) => emailAddress));
  expect((await runCli(env, 'mail', 'enable', String(fixture.eventId))).code).toBe(0);
  const { body: webhook } = await partner.request('/api/v1/webhooks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url }),
  });
  keepPrivate([(webhook.responseData as { secret: string }).secret]);
  const { body: held } = await partner.registerBulk(guests.slice(0, holds), 'all', { 'hold-for': '600' });
  const references = (held.responseData as (typeof held)[]).map(({ responseData }) => String(responseData));
  const isFinalized = () => isOutboxEmpty(given.database.db, fixture.shardId);
  await waitUntil('the holds are finalized', isFinalized);

  const answers = await Promise.all([
    ...references.flatMap((reference) =>
      Array.from({ length: callers }, (_, caller) => partners[caller % 2]!.confirm(reference)),
    ),
    ...guests.slice(holds).map((guest, index) => partners[index % 2]!.register(guest)),
  ]);
  expect(new Set(answers.map(({ body }) => body.responseCode))).toEqual(new Set(['00']));
  const registered = answers.slice(holds * callers).map(({ body }) => String(body.responseData));
  const all = [...references, ...registered].toSorted();
  await waitUntil('the rest is finalized', isFinalized);
  const entries = await journalOf(given.database.db, fixture);
  expect(entries.map(({ kind }) => kind)).toEqual(all.map(() => 'confirmed'));
  expect(new Set(entries.map(({ serial }) => serial)).size).toBe(all.length);
  const listed = await partner.request('/api/v1/events/registrations?limit=1000');
  const list = listed.body.responseData as { registrations: { passReference: string }[] };
  expect(list.registrations.map(({ passReference }) => passReference).toSorted()).toEqual(all);

  const delivery = await startDeliveryProcess({
    DATABASE_URL: given.database.url,
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'The Gala <gala@floodgate-tests.org>',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  });
  await waitUntil('everything is delivered', async () => {
    const { deliveries } = (await readCli(env, 'queue', 'status')) as {
      deliveries: Record<'mail' | 'webhook', { behind: number }>;
    };
    return deliveries.mail.behind + deliveries.webhook.behind === 0;
  });
  const told = receiver.told().flatMap(({ data }) => data.entries);
  expect(told.map(({ passReference }) => String(passReference)).toSorted()).toEqual(all);
  expect(mailServer.mails.map(({ to }) => to).toSorted()).toEqual(
    guests.map(({ emailAddress }) => emailAddress).toSorted(),
  );
  for (const service of [...apis, worker, delivery]) expect(await service.end()).toBe(0);
});
