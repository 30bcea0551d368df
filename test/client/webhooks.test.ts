import { createClient, type FloodgateClient } from '@floodgate/client';
import { afterAll, expect } from 'vitest';
import { startAnsweringProxy } from './answering-proxy.ts';
import { apiTest } from '../harness/api-test.ts';

const { test, given } = apiTest({ sharesEvent: true });

let client: FloodgateClient;

test.beforeAll(async () => {
  client = open(given.api.baseUrl);
});
afterAll(async () => {
  await client.close();
});

function open(baseUrl: string): FloodgateClient {
  const { secretKey, eventRef } = given.gala;
  return createClient({ baseUrl, secretKey, eventRef, answerWithinMs: 5_000 });
}

const url = 'https://partner.example/floodgate';

test('a webhook is created, changed, paused, resumed, tested, rotated, replayed and deleted', async () => {
  const { webhooks } = client;
  const created = await webhooks.create({ url, types: ['registration.confirmed'], from: 'now' });
  if (created.code !== '00') throw new Error(created.code);
  const { id, secret } = created.webhook;
  expect(created.webhook).toMatchObject({ url, state: 'active', types: ['registration.confirmed'] });
  expect(await webhooks.get(id)).toMatchObject({ code: '00', webhook: { id, url } });
  expect(await webhooks.list()).toMatchObject({ code: '00', webhooks: [{ id }] });
  expect(await webhooks.update(id, { description: 'new' })).toMatchObject({
    webhook: { description: 'new', url },
  });
  expect(await webhooks.pause(id)).toMatchObject({ webhook: { state: 'paused' } });
  expect(await webhooks.resume(id)).toMatchObject({ webhook: { state: 'active' } });
  const rotated = await webhooks.rotate(id, { overlapHours: 1 });
  expect(rotated.code === '00' && rotated.webhook.secret).toMatch(/^whsec_/);
  expect(rotated).not.toMatchObject({ webhook: { secret } });
  expect(await webhooks.replay(id, new Date())).toMatchObject({ code: '00', webhook: { id } });
  expect(await webhooks.test(id)).toMatchObject({
    code: '00',
    test: { messageId: expect.stringMatching(/^msg_test_/) as string },
  });
  expect(await webhooks.attempts(id, { limit: 10 })).toMatchObject({ code: '00', attempts: [] });
  expect(await webhooks.delete(id)).toMatchObject({ code: '00', webhook: { id } });
  expect(await webhooks.get(id)).toMatchObject({ code: '70' });
});

test('what the service refuses is a result', async () => {
  expect(await client.webhooks.create({ url: 'ftp://partner.example' })).toMatchObject({ code: '11' });
  expect(await client.webhooks.pause('0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f')).toMatchObject({ code: '70' });
});

test('a webhook whose answer was lost is not created a second time', async () => {
  await using proxy = await startAnsweringProxy(given.api.baseUrl, ['cut']);
  const cut = open(proxy.baseUrl);
  expect(await cut.webhooks.create({ url })).toMatchObject({ code: 'unknown' });
  const listed = await cut.webhooks.list();
  expect(listed.code === '00' && listed.webhooks).toHaveLength(1);
  await cut.close();
});
