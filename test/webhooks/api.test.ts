import type { Webhook, WebhookAttempt, WebhookWithSecret } from '@floodgate/contract';
import { perform, readAuditLog } from '@floodgate/audit';
import { pauseWebhookAction, resumeWebhookAction } from '@floodgate/webhooks/actions';
import { afterAll, expect } from 'vitest';
import { Webhook as Verifier } from 'standardwebhooks';
import { apiTest } from '../harness/api-test.ts';
import type { Fixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { followChain } from '../harness/webhook-receiver.ts';
import { changeWebhook, confirmSome } from '../harness/webhooks.ts';
import { deliverInTest, startReceiverInTest } from '../harness/webhooks-in-test.ts';

const { test, given } = apiTest({ own: 'starts processes that work on everything in the database' });

test.override('apiSettings', { WEBHOOK_ALLOW_PRIVATE: 'true' });

let strict: InProcessApi;

test.beforeAll(async () => {
  strict = await startInProcessApi({ DATABASE_URL: given.database.url });
});
afterAll(async () => {
  await strict.close();
});

interface Asked {
  of?: Fixture;
  at?: InProcessApi;
}

/** Asks as the partner and returns the envelope. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- who asks knows what is answered
async function ask<Data>(
  route: string,
  body?: object,
  { of = given.gala, at = given.api }: Asked = {},
): Promise<{ status: number; code: string; message: string; data: Data }> {
  const [method, path] = route.split(' ') as [string, string];
  const response = await fetch(`${at.baseUrl}/api/v1/webhooks${path}`, {
    method,
    headers: {
      'x-secret-key': of.secretKey,
      'x-event-ref': of.eventRef,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as {
    responseCode: string;
    responseMessage: string;
    responseData: Data;
  };
  keepPrivate([(answer.responseData as { secret?: string } | null)?.secret]);
  return {
    status: response.status,
    code: answer.responseCode,
    message: answer.responseMessage,
    data: answer.responseData,
  };
}

const URL = 'https://partner.example/hook';
const create = async (request: object = {}, asked: Asked = {}) => {
  const { code, data } = await ask<WebhookWithSecret>('POST ', { url: URL, ...request }, asked);
  expect(code).toBe('00');
  return data;
};

test('a webhook is created, listed, changed and deleted; its secret is shown once', async () => {
  const { secret, ...created } = await create({ description: 'mine', entriesPerMessage: 7 });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(created).toMatchObject({
    url: URL,
    description: 'mine',
    entriesPerMessage: 7,
    types: [
      'registration.confirmed',
      'registration.cancelled',
      'registration.failed',
      'registration.admitted',
      'registration.admitted_again',
      'ticket.sold_out',
      'ticket.reopened',
      'waiting.joined',
      'waiting.offered',
      'waiting.expired',
      'waiting.confirmed',
    ],
    state: 'active',
    disabledReason: null,
    cursor: '0',
    failures: 0,
    dateFailing: null,
    dateNextAttempt: null,
  });
  expect((await ask<Webhook[]>('GET ')).data).toEqual([created]);
  const path = `/${created.id}`;
  expect((await ask<Webhook>(`GET ${path}`)).data).toEqual(created);
  const change = { url: 'https://partner.example/other', types: ['ticket.sold_out'] };
  const changed = { ...created, ...change };
  expect((await ask(`PATCH ${path}`, change)).data).toEqual(changed);
  expect((await ask(`POST ${path}/pause`)).data).toEqual({ ...changed, state: 'paused' });
  expect((await ask(`POST ${path}/resume`)).data).toEqual(changed);
  expect((await ask(`DELETE ${path}`)).data).toEqual(changed);
  expect((await ask(`GET ${path}`)).code).toBe('70');
  expect((await ask('GET ')).data).toEqual([]);
  for (const table of ['journal_consumers', 'webhook_endpoints', 'webhook_secrets'] as const) {
    const column = table === 'webhook_secrets' ? 'endpoint_id' : 'id';
    const left = given.database.db
      .selectFrom(table)
      .selectAll()
      .where(column as never, '=', created.id as never);
    expect(await left.execute()).toEqual([]);
  }
});

test.for([
  [{}, 'url: required. the https url that receives'],
  [{ url: 'ftp://partner.example/' }, 'url: '],
  [{ url: 'https://user:password@partner.example/' }, 'url: '],
  [{ url: 'https://' }, 'url: '],
  [{ url: `https://partner.example/${'a'.repeat(2_048)}` }, 'url: '],
  [{ url: URL, types: [] }, 'types: '],
  [{ url: URL, types: ['registration.held'] }, 'types[0]: '],
  [{ url: URL, entriesPerMessage: 501 }, 'entriesPerMessage: '],
  [{ url: URL, entriesPerMessage: 0 }, 'entriesPerMessage: '],
  [{ url: URL, from: 'then' }, 'from: '],
] as const)('a wrong request is refused with its rule: %j', async ([request, rule]) => {
  const { status, code, message } = await ask('POST ', request);
  expect([status, code]).toEqual([422, '11']);
  expect(message.toLowerCase().startsWith(rule.toLowerCase())).toBe(true);
  expect((await ask('GET ')).data).toEqual([]);
});

test('a change without a known field is refused, and unknown fields beside a known one are ignored', async () => {
  const created = await create();
  for (const body of [{}, { entriesPerMesage: 7 }, { state: 'paused', paused: true }]) {
    const { status, code, message } = await ask(`PATCH /${created.id}`, body);
    expect([status, code]).toEqual([422, '11']);
    expect(message).toContain('url, description, types, entriesPerMessage');
  }
  const { code, data } = await ask<Webhook>(`PATCH /${created.id}`, {
    state: 'paused',
    entriesPerMessage: 7,
  });
  expect([code, data.state, data.entriesPerMessage]).toEqual(['00', 'active', 7]);
});

test.for([
  ['no body and no type', {}],
  ['no body, and its type', { 'content-type': 'application/json' }],
] as const)('a secret is rotated with %s', async ([, headers]) => {
  const { id, secret } = await create();
  const response = await fetch(`${given.api.baseUrl}/api/v1/webhooks/${id}/rotate`, {
    method: 'POST',
    headers: { 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef, ...headers },
  });
  const { responseCode, responseData } = (await response.json()) as {
    responseCode: string;
    responseData: WebhookWithSecret;
  };
  keepPrivate([responseData.secret]);
  expect(responseCode).toBe('00');
  expect(responseData.secret).not.toBe(secret);
});

test('http is for development alone', async () => {
  const url = 'http://partner.example/hook';
  expect((await ask('POST ', { url }, { at: strict })).code).toBe('11');
  expect((await ask('POST ', { url: URL }, { at: strict })).code).toBe('00');
  expect((await ask('POST ', { url })).code).toBe('00');
});

test('there are ten of a partner under an event at most, however many are asked for at once', async () => {
  const answers = await Promise.all(Array.from({ length: 14 }, () => ask('POST ', { url: URL })));
  expect(answers.map(({ code }) => code).toSorted()).toEqual([
    ...Array<string>(10).fill('00'),
    ...Array<string>(4).fill('71'),
  ]);
});

const pathOf = (route: string, id: string) => {
  const [method, name] = route.split(' ');
  return `${method} /${id}${name ? `/${name}` : ''}`;
};

test('a test arrives signed, and is among the attempts; a replay tells everything again', async () => {
  const receiver = await startReceiverInTest();
  await deliverInTest(given.database.url);
  const ticketId = await given.gala.addTicket();
  const { id, secret } = await create({ url: receiver.url });
  const { data } = await ask<{ messageId: string }>(`POST /${id}/test`);
  await waitUntil('the test arrives', () => receiver.deliveries.length === 1);
  const [{ body, headers }] = receiver.deliveries as [(typeof receiver.deliveries)[number]];
  expect(headers['webhook-id']).toBe(data.messageId);
  expect(new Verifier(secret).verify(body, headers)).toMatchObject({
    type: 'webhook.test',
    data: { eventRef: given.gala.eventRef },
  });
  const attempt = await waitUntil('it is noted', async () => {
    const [latest] = (await ask<WebhookAttempt[]>(`GET /${id}/attempts?limit=1`)).data;
    return latest;
  });
  expect(attempt).toMatchObject({
    messageId: data.messageId,
    outcome: 'delivered',
    httpStatus: 204,
    cursor: null,
  });

  const before = new Date();
  await confirmSome(given.database.db, given.gala, ticketId, 3);
  const passes = () => followChain(receiver.told()).passes.length;
  await waitUntil('three are told', () => passes() === 3);
  await waitUntil('they are noted', async () => (await ask<Webhook>(`GET /${id}`)).data.cursor !== '0');
  const delivered = receiver.deliveries.length;
  expect((await ask(`POST /${id}/replay`, { since: before.toISOString() })).code).toBe('00');
  await waitUntil('they are told again', () => receiver.deliveries.length > delivered);
  expect(new Set(receiver.deliveries.slice(1).map((one) => one.body)).size).toBeLessThan(
    receiver.deliveries.length - 1,
  );
  // By other messages: receivers drop those that they know.
  const ids = receiver.deliveries.map((one) => one.headers['webhook-id']);
  expect(new Set(ids).size).toBe(ids.length);
});

test('a webhook that is created paused sends nothing before it is resumed', async () => {
  const receiver = await startReceiverInTest();
  await deliverInTest(given.database.url);
  const { id, state } = await create({ url: receiver.url, paused: true });
  expect(state).toBe('paused');
  await confirmSome(given.database.db, given.gala, await given.gala.addTicket(), 2);
  // Tests are sent whatever the state: when this one arrives, the delivery process has had its chance.
  await ask(`POST /${id}/test`);
  await waitUntil('the test arrives', () => receiver.deliveries.length > 0);
  expect(receiver.told().map(({ type }) => type)).toEqual(['webhook.test']);
  expect((await ask<Webhook>(`POST /${id}/resume`)).data.state).toBe('active');
  await waitUntil('both arrive', () => followChain(receiver.told()).passes.length === 2);
});

test('a partner cannot resume a webhook that the operator paused', async () => {
  const { id } = await create();
  await perform(given.database.db, pauseWebhookAction, { webhookId: id }, 'operator');
  for (const route of ['resume', 'pause', 'resume']) {
    const { status, code } = await ask(`POST /${id}/${route}`);
    expect([status, code]).toEqual(route === 'resume' ? [409, '72'] : [200, '00']);
  }
  expect((await ask<Webhook>(`GET /${id}`)).data.state).toBe('paused');
  await perform(given.database.db, resumeWebhookAction, { webhookId: id }, 'operator');
  expect((await ask<Webhook>(`GET /${id}`)).data.state).toBe('active');
  // The partner's own pause is its own to end, also after the operator's.
  await ask(`POST /${id}/pause`);
  expect((await ask<Webhook>(`POST /${id}/resume`)).data.state).toBe('active');
});

test("a partner's changes are in the audit log, without secrets and URLs; refused and repeated ones are not", async () => {
  const { id, secret } = await create({ url: `${URL}?token=dont-tell` });
  const changes: [string, object?][] = [
    [`PATCH /${id}`, { entriesPerMessage: 7 }],
    [`PATCH /${id}`, { url: URL }],
    [`POST /${id}/pause`],
    [`POST /${id}/pause`],
    [`POST /${id}/resume`],
    [`POST /${id}/rotate`, {}],
    [`POST /${id}/test`],
    [`POST /${id}/replay`, { since: '2026-11-21T09:00:00Z' }],
    [`DELETE /${id}`],
    [`DELETE /${id}`],
  ];
  for (const [route, body] of changes) await ask(route, body);
  const entries = (
    await readAuditLog(given.database.db, { subject: `webhook:${id}`, limit: 50 })
  ).toReversed();
  expect(entries.map(({ action }) => action.replace('webhook.', ''))).toEqual([
    'create',
    'update',
    'update',
    'pause',
    'resume',
    'rotate',
    'test',
    'replay',
    'delete',
  ]);
  expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([`partner:${given.gala.partnerId}`]));
  expect(entries[3]).toMatchObject({
    before: { state: 'active', pausedBy: null },
    after: { state: 'paused', pausedBy: 'partner' },
  });
  const text = JSON.stringify(entries);
  for (const secretText of [secret.slice(6), 'dont-tell', 'partner.example'])
    expect(text).not.toContain(secretText);
});

test('a rotated secret signs, with the one before', async () => {
  const receiver = await startReceiverInTest();
  await deliverInTest(given.database.url);
  const { id, secret: old } = await create({ url: receiver.url });
  const { data } = await ask<WebhookWithSecret>(`POST /${id}/rotate`, { overlapHours: 1 });
  expect(data.secret).not.toBe(old);
  expect((await ask<Webhook>(`GET /${id}`)).data.publicKey).toBe(data.publicKey);
  await ask(`POST /${id}/test`);
  await waitUntil('the test arrives', () => receiver.deliveries.length === 1);
  const [{ body, headers }] = receiver.deliveries as [(typeof receiver.deliveries)[number]];
  for (const secret of [old, data.secret])
    expect(new Verifier(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test' });
});

test.for(['PATCH', 'POST pause', 'POST resume', 'POST replay', 'POST rotate'])(
  'what is deleted at that moment is 70: %s',
  async (route) => {
    const { id } = await create();
    const body = {
      PATCH: { url: URL },
      'POST replay': { since: '2026-11-21T09:00:00Z' },
      'POST rotate': {},
    }[route];
    let asked: ReturnType<typeof ask> | undefined;
    await given.database.db.transaction().execute(async (deleting) => {
      await changeWebhook(deleting, { ...given.gala, id }, 'delete');
      asked = ask(pathOf(route, id), body);
      await waitForLockWaiters(given.database.db, 1);
    });
    expect((await asked)!.code).toBe('70');
  },
);
