import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import type { WebhookMessage } from './contract.ts';

/** A message that did not come from the service, or not now. It must not be heeded. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

export interface ReceivedWebhook {
  /** As it arrived, before anything has parsed it. */
  body: string | Uint8Array;
  /** Of the request: those of Node.js, or of fetch. */
  headers: { get(name: string): string | null } | Record<string, string | string[] | undefined>;
  /** The webhook's secret (`whsec_…`), or its public key (`whpk_…`); while one replaces another, both. */
  secret: string | readonly string[];
  /** By how much the clocks may differ; 300 where nothing is said. */
  toleranceSeconds?: number;
}

const TOLERANCE_SECONDS = 300;
/** What stands before the 32 bytes of a public key of Ed25519 (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/**
 * Returns what a message tells. Throws WebhookVerificationError where none of its signatures is right, or it was sent at another
 * time. A message may come again, with the same `webhook-id`: drop what you know.
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
