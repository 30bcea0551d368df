import { createPublicKey, verify } from 'node:crypto';
import type { EventDocument, PassKeySet, Revocations, RevocationsFault } from './results.ts';

/** The data that a door needs before it scans the first pass. */
export interface DoorSettings {
  keys: PassKeySet;
  /** `organizedEventID` of the event at this door. */
  eventId: number;
  /** The partner of the revocation pages. Null: all partners, with pages from `floodgate pass revoked`. */
  partnerId: number | null;
  /** The signed event, from `signedEvent()` or `floodgate pass event`. */
  event: string;
  /** Every revocation page from the first one on, in order. */
  revocations: readonly string[];
  /** Maximum age of a document, in seconds. Default: 3,600. */
  maxAgeSeconds?: number;
  /** Default: the current time. */
  now?: Date;
}

/** The content of one verified revocation page. */
export interface RevocationPage {
  event: number;
  partner: number | null;
  after: string;
  cursor: string;
  more: boolean;
  serials: number[];
  at: string;
}

/** Returns the content of an event document if it is genuine and recent, otherwise its fault. */
export function readEvent(jws: string, keys: PassKeySet, settings: Partial<DoorSettings> = {}) {
  const event = readDocument(jws, 'event', keys);
  if (typeof event === 'string') return event;
  if (event.event !== (settings.eventId ?? event.event)) return 'event-other-event';
  return isRecent(event.at, settings) ? event : 'event-stale';
}

/**
 * Returns the content of the pages if they are the complete and recent list of this event and partner,
 * otherwise their fault.
 */
export function readRevocations(settings: Omit<DoorSettings, 'event'>): Revocations | RevocationsFault {
  const { keys, eventId, partnerId } = settings;
  const pages: RevocationPage[] = [];
  for (const jws of settings.revocations) {
    const page = readDocument(jws, 'revocations', keys);
    if (typeof page === 'string') return page;
    if (page.event !== eventId) return 'revocations-other-event';
    if (page.partner !== partnerId) return 'revocations-other-partner';
    pages.push(page);
  }
  const last = pages.at(-1);
  const isChain = pages.every(({ after }, index) => after === (pages[index - 1]?.cursor ?? '0'));
  if (!last || last.more || !isChain) return 'revocations-incomplete';
  if (!isRecent(last.at, settings)) return 'revocations-stale';
  const serials = new Set(pages.flatMap((page) => page.serials));
  return { eventId, partnerId, serials, cursor: last.cursor, at: new Date(last.at) };
}

function isRecent(at: string, { maxAgeSeconds = 3_600, now = new Date() }: Partial<DoorSettings>) {
  // A document from the future is also refused: it shows that the door's clock is wrong.
  return Math.abs(now.getTime() - Date.parse(at)) <= maxAgeSeconds * 1_000;
}

interface Documents {
  event: EventDocument;
  revocations: RevocationPage;
}

/** Returns the content of a document that one of the keys signed, otherwise its fault. */
export function readDocument<Type extends keyof Documents>(jws: string, type: Type, keys: PassKeySet) {
  const [header = '', payload = '', signature = '', ...rest] = jws.split('.');
  const head = parsePart(header) as { alg?: unknown; kid?: unknown; typ?: unknown } | null;
  const isOfType = head?.typ === `floodgate-${type}` && head.alg === 'EdDSA';
  if (rest.length > 0 || !isOfType) return `${type}-malformed` as const;
  const signed = Buffer.from(`${header}.${payload}`);
  const check = checkSignature(keys, head.kid, signed, Buffer.from(signature, 'base64url'));
  return check === 'genuine' ? (parsePart(payload) as Documents[Type]) : (`${type}-${check}` as const);
}

const parsePart = (part: string) => parse(Buffer.from(part, 'base64url').toString());

/** Returns the parsed JSON, or null if the text is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns `genuine` if the key with this id signed the data, otherwise the fault. */
export function checkSignature({ keys }: PassKeySet, kid: unknown, data: Uint8Array, signature: Uint8Array) {
  const found = keys.find((key) => key.kid === kid);
  if (!found) return 'unknown-key';
  return isSignature(signature, data, found.x) ? 'genuine' : 'forged';
}

/** Returns whether the key signed the data. `x`: the 32 bytes of the key in base64url. */
export function isSignature(signature: Uint8Array, data: Uint8Array, x: string) {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, data, key, signature);
}
