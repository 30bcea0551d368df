import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import type { WebhookChanges, WebhookTestMessage } from './contract.ts';

/** The body of a webhook. */
export type WebhookMessage = WebhookChanges | WebhookTestMessage;

/** The message is not from the service, or not recent. Ignore it. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

export interface ReceivedWebhook {
  /** The raw body, before it is parsed. */
  body: string | Uint8Array;
  /** The headers of the request, of Node.js or of fetch. */
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>;
  /** The webhook's secret (`whsec_…`) or its public key (`whpk_…`). During a rotation: both secrets. */
  secret: string | readonly string[];
  /** How far the clocks may differ; 300 by default. */
  toleranceSeconds?: number;
}

const TOLERANCE_SECONDS = 300;
/** The header of an Ed25519 public key (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Returns the verified message. Throws WebhookVerificationError if no signature is right, or if the message is not recent. A message can
 * arrive again with the same `webhook-id`: process each id once.
 */
export function verifyWebhook(received: ReceivedWebhook): WebhookMessage {
  const { secret, toleranceSeconds = TOLERANCE_SECONDS } = received;
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(received.headers, name),
  ) as [string, string, string];
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(Date.now() / 1_000 - sentAt) <= toleranceSeconds))
    throw new WebhookVerificationError('webhook-timestamp is too far from now');
  const body = Buffer.from(received.body as string);
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const isSigned = secrets.some((one) =>
    signatures.split(' ').some((signature) => isSignature(signature, content, one)),
  );
  if (!isSigned) throw new WebhookVerificationError('no signature is right');
  return JSON.parse(body.toString()) as WebhookMessage;
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  const isFetch = typeof (headers as { get?: unknown }).get === 'function';
  const value = isFetch
    ? (headers as { get(name: string): string | null }).get(name)
    : (headers as Record<string, unknown>)[name];
  if (typeof value === 'string') return value;
  throw new WebhookVerificationError(`${name} is missing`);
}

function isSignature(signature: string, content: Buffer, secret: string): boolean {
  const [version, text = ''] = signature.split(',');
  const [kind, key] = [secret.slice(0, secret.indexOf('_')), secret.slice(secret.indexOf('_') + 1)];
  const [given, keyBytes] = [Buffer.from(text, 'base64'), Buffer.from(key, 'base64')];
  if (version === 'v1' && kind === 'whsec') {
    const wanted = createHmac('sha256', keyBytes).update(content).digest();
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
  if (version !== 'v1a' || kind !== 'whpk') return false;
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI_HEAD, keyBytes]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, content, publicKey, given);
}
