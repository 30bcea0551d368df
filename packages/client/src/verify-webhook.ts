import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookChanges, WebhookTestMessage } from './contract.ts';
import { check } from './options.ts';
import { isSignature } from './signed-documents.ts';

/** The body of a webhook. */
export type WebhookMessage = WebhookChanges | WebhookTestMessage;

/** The message is not from the service, or not recent. Ignore it. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

export interface ReceivedWebhook {
  /** The raw body, before it is parsed. */
  body: string | Uint8Array | ArrayBuffer;
  /** The headers of the request, of Node.js or of fetch. */
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>;
  /** The webhook's secret (`whsec_…`) or its public key (`whpk_…`). During a rotation: both secrets. */
  secret: string | readonly string[];
  /** Maximum difference between webhook-timestamp and the current time. Default: 300. */
  toleranceSeconds?: number;
}

const NOT_RAW =
  'verifyWebhook: pass the raw body, a string or bytes as they were received. A framework that parses ' +
  'JSON replaces it, and the ' +
  'signature covers each byte';

/**
 * Returns the verified message. Throws WebhookVerificationError if no signature is valid, or if the message
 * is not recent. A message can arrive again with the same `webhook-id`: process each id once. Throws a
 * FloodgateError if the body is not the raw body.
 */
export function verifyWebhook(received: ReceivedWebhook): WebhookMessage {
  const body = bytesOf(received.body);
  const { headers, toleranceSeconds = 300 } = received;
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(Date.now() / 1_000 - sentAt) <= toleranceSeconds))
    throw new WebhookVerificationError('webhook-timestamp is not recent');
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const isGenuine = [received.secret]
    .flat()
    .some((secret) => signatures.some((signature) => isSigned(signature, content, secret)));
  if (!isGenuine) throw new WebhookVerificationError('no signature is valid');
  return JSON.parse(body.toString()) as WebhookMessage;
}

/** Returns the bytes of a raw body. Throws a FloodgateError if the body is something else, such as parsed JSON. */
function bytesOf(body: unknown) {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ArrayBuffer;
  check(isRaw, NOT_RAW);
  return Buffer.from(body as string);
}

function headerOf(headers: ReceivedWebhook['headers'], name: string) {
  const fields = headers as Record<string, unknown>;
  const { get } = fields;
  const value: unknown = typeof get === 'function' ? get.call(headers, name) : fields[name];
  if (typeof value === 'string') return value;
  throw new WebhookVerificationError(`${name} is missing`);
}

function isSigned(signature: string, content: Buffer, secret: string) {
  const [version, text = ''] = signature.split(',');
  const [kind, key] = secret.split('_');
  if (!key) return false;
  const given = Buffer.from(text, 'base64');
  if (version === 'v1' && kind === 'whsec') {
    const wanted = createHmac('sha256', Buffer.from(key, 'base64')).update(content).digest();
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
  if (version !== 'v1a' || kind !== 'whpk') return false;
  return isSignature(given, content, Buffer.from(key, 'base64').toString('base64url'));
}
