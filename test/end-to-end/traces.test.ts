import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { switchOn } from '@floodgate/mail/actions';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { assertNothingPrivate } from '../harness/private-data.ts';
import { startApiProcess, startDeliveryProcess, startWorkerProcess } from '../harness/service-process.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';
import { addWebhook } from '../harness/webhooks.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

interface Span {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] };
    scopeSpans: { spans: Omit<Span, 'service'>[] }[];
  }[];
}

/** Receives spans as a collector does. */
async function startReceiver() {
  const spans: Span[] = [];
  let received = '';
  const receive = (body: string) => {
    received += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as Export).resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')!.value.stringValue;
      for (const one of scopeSpans) spans.push(...one.spans.map((span) => ({ service, ...span })));
    }
  };
  const server = createServer((request, response) => {
    const answer = async () => {
      receive(await text(request));
      response.setHeader('content-type', 'application/json').end('{}');
    };
    void answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1/traces`, spans, received: () => received };
}

test('request, commit, finalization, e-mail and webhook of a registration are one trace, without attendee data', async () => {
  const [receiver, mail, partner] = [
    await startReceiver(),
    await startMailServer(),
    await startReceiverInTest(),
  ];
  const traced = { TRACES_URL: receiver.url, TRACES_PERCENT: '100' };
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url, ...traced };
  const gala = await createFixture(given.database.db);
  await switchOn(given.database.db, gala, false);
  await addWebhook(given.database.db, gala, { url: partner.url });
  const [api, worker, delivery] = await Promise.all([
    startApiProcess(env),
    startWorkerProcess(env),
    startDeliveryProcess({
      DATABASE_URL: given.database.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      SMTP_URL: mail.url,
      ...traced,
    }),
  ]);
  const client = new PartnerClient(api.baseUrl, gala);
  const { headers, body } = await client.register({
    ...attendee(await gala.addTicket()),
    emailAddress: 'jane@mail.floodgate-tests.org',
  });
  expect(body).toMatchObject({ responseCode: '00' });
  await waitUntil(
    'e-mail and webhook have arrived',
    () => mail.mails.length === 1 && partner.deliveries.length === 1,
  );
  // A process sends its last spans when it stops.
  expect(await Promise.all([api.end(), worker.end(), delivery.end()])).toEqual([0, 0, 0]);

  const { id } = await tablesOf(given.database.db)
    .selectFrom('batches')
    .select('id')
    .executeTakeFirstOrThrow();
  const traceId = id.replaceAll('-', '');
  const ofBatch = receiver.spans.filter((span) => span.traceId === traceId);
  expect(ofBatch.map(({ service, name }) => `${service}: ${name}`).toSorted()).toEqual([
    'floodgate-api: POST /api/v1/events/register',
    'floodgate-api: commit',
    'floodgate-delivery: e-mail',
    'floodgate-delivery: webhook',
    'floodgate-worker: finalize',
  ]);
  const commit = ofBatch.find(({ name }) => name === 'commit')!;
  expect(commit.parentSpanId).toBeFalsy();
  for (const span of ofBatch) if (span !== commit) expect(span.parentSpanId, span.name).toBe(commit.spanId);
  const request = ofBatch.find(({ name }) => name.startsWith('POST'))!;
  expect(request.attributes).toContainEqual({
    key: 'requestId',
    value: { stringValue: headers.get('x-request-id') },
  });
  assertNothingPrivate('the traces', receiver.received());
});

test('a receiver that is away costs no registration, and the log says so', async () => {
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url };
  const api = await startApiProcess({ ...env, TRACES_URL: 'http://127.0.0.1:1/', TRACES_PERCENT: '100' });
  const gala = await createFixture(given.database.db);
  const { body } = await new PartnerClient(api.baseUrl, gala).register(attendee(await gala.addTicket()));
  expect(body).toMatchObject({ responseCode: '00' });
  await waitUntil('the log says so', () =>
    api.output().includes('the receiver of traces does not accept them'),
  );
  expect(await api.end()).toBe(0);
});
