import {
  FloodgateError,
  verifyWebhook,
  WebhookVerificationError,
  type ReceivedWebhook,
} from '@floodgate/client';
import { createSigner, createSigningKeys, publicKeyText, secretText } from '@floodgate/webhooks/signatures';
import { buildTestMessage } from '@floodgate/webhooks/deliver/messages';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';

const keys = createSigningKeys();
const SECRETS = { secret: secretText(keys.secret), 'public key': publicKeyText(keys.publicKey) };

/** A message as it arrives, signed so many seconds ago. */
function received(secret: string, secondsAgo = 0, by = [keys]): ReceivedWebhook {
  const { id, body } = buildTestMessage('msg_test_1', '01234567-89ab-4cde-8f01-23456789abcd');
  const timestamp = Math.floor(Date.now() / 1_000) - secondsAgo;
  const signature = createSigner(by)(id, timestamp, body);
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  };
  return { body, headers, secret };
}

const refuses = (one: ReceivedWebhook) => expect(() => verifyWebhook(one)).toThrow(WebhookVerificationError);

test.for(Object.entries(SECRETS))('the client accepts what is signed, by its %s', ([, secret]) => {
  const message = received(secret);
  const told = { type: 'webhook.test', data: { eventRef: '01234567-89ab-4cde-8f01-23456789abcd' } };
  expect(verifyWebhook(message)).toMatchObject(told);
  const bytes = new TextEncoder().encode(message.body as string);
  expect(verifyWebhook({ ...message, body: bytes.buffer })).toMatchObject(told);
  for (const body of [JSON.parse(message.body as string), undefined, null, [], 7] as never[])
    expect(() => verifyWebhook({ ...message, body })).toThrow(FloodgateError);
  expect(() => verifyWebhook({ ...message, body: {} as never })).toThrow('pass the raw body');
  expect(verifyWebhook({ ...message, body: Buffer.from(message.body as string) })).toMatchObject(told);
  const headers = new Headers(message.headers as Record<string, string>);
  expect(verifyWebhook({ ...message, headers })).toMatchObject(told);
});

test.for(Object.entries(SECRETS))('and refuses everything else, by its %s', ([, secret]) => {
  const message = received(secret);
  const headers = message.headers as Record<string, string>;
  refuses({ ...message, body: `${message.body as string} ` });
  refuses({ ...message, headers: { ...headers, 'webhook-id': 'msg_other' } });
  refuses({
    ...message,
    headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) },
  });
  for (const name of Object.keys(headers))
    refuses({ ...message, headers: { ...headers, [name]: undefined } });
  for (const signature of ['', 'v1', 'v1,', 'v1a,', 'v2,AAAA', 'v1,AAAA', 'v1a,AAAA'])
    refuses({ ...message, headers: { ...headers, 'webhook-signature': signature } });
  refuses(received(secret, 0, [createSigningKeys()]));
  refuses({ ...message, secret: [] });
});

test('a secret that lacks its key accepts no signature', () => {
  const { body, headers } = received('');
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers as Record<string, string>;
  const forged = createHmac('sha256', '')
    .update(`${id}.${timestamp}.${body as string}`)
    .digest('base64');
  for (const secret of ['', 'whsec', 'whsec_', 'whpk_'])
    refuses({ body, headers: { ...headers, 'webhook-signature': `v1,${forged}` }, secret });
});

test('an old message is refused, and one from the future', () => {
  for (const seconds of [302, -302, Number.NaN]) refuses(received(SECRETS.secret, seconds));
  expect(verifyWebhook(received(SECRETS.secret, 290)).type).toBe('webhook.test');
  expect(verifyWebhook({ ...received(SECRETS.secret, 302), toleranceSeconds: 600 }).type).toBe(
    'webhook.test',
  );
});

test('while secrets rotate, either is enough, on both sides', () => {
  const next = createSigningKeys();
  const both = [secretText(next.secret), SECRETS.secret];
  expect(verifyWebhook({ ...received('', 0, [next, keys]), secret: both[0]! }).type).toBe('webhook.test');
  expect(verifyWebhook({ ...received('', 0, [next, keys]), secret: both[1]! }).type).toBe('webhook.test');
  expect(verifyWebhook({ ...received('', 0, [keys]), secret: both }).type).toBe('webhook.test');
});
