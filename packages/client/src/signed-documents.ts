import { createPublicKey, verify } from 'node:crypto';

/** The public keys as /.well-known/floodgate/pass-keys.json has them. */
export interface PassKeySet {
  keys: readonly { kid: string; x: string }[];
}

/** The trusted part of a door's settings. */
export interface TrustedSettings {
  keys: PassKeySet;
  /** `organizedEventID` of the event that the door admits to. */
  eventId: number;
  /** The oldest document that is accepted, in seconds; 3,600 by default. */
  maxAgeSeconds?: number;
  /** The current time by default. */
  now?: Date;
}

type DocumentFault = 'malformed' | 'unknown-key' | 'forged' | 'other-event' | 'stale';
/** Why the signed event cannot be used. No pass is valid until it is fetched again. */
export type EventFault = `event-${DocumentFault}`;
/** Why the revocation pages cannot be used. `incomplete`: a page is missing at the start, in between or at the end. */
export type RevocationsFault = `revocations-${DocumentFault | 'other-partner' | 'incomplete'}`;

/** The content of a verified event document. Null: the operator has not set it. */
export interface EventDocument {
  event: number;
  eventRef: string;
  /** Rises with every change of the event. */
  revision: number;
  name: string;
  venue: string | null;
  timeZone: string | null;
  startsAt: string | null;
  endsAt: string | null;
  /** When doors admit. */
  validFrom: string | null;
  validUntil: string | null;
  /** When the event was read. */
  at: string;
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

/** The content of all verified revocation pages. */
export interface Revocations {
  eventId: number;
  partnerId: number | null;
  serials: ReadonlySet<number>;
  /** The cursor of the last page. */
  cursor: string;
  /** When the last page was made. */
  at: Date;
}

const MAX_AGE_SECONDS = 3_600;

/** Returns the content of an event document if it is genuine and recent, else the fault. */
export function readEvent(
  jws: string,
  settings: Omit<TrustedSettings, 'eventId'> & { eventId?: number },
): EventDocument | EventFault {
  const event = readDocument(jws, 'event', settings.keys);
  if (typeof event === 'string') return event;
  if (event.event !== (settings.eventId ?? event.event)) return 'event-other-event';
  return isRecent(event.at, settings) ? event : 'event-stale';
}

/** Returns what the pages revoke if they are the complete and recent list of this event and partner, else the fault. */
export function readRevocations(
  { partnerId, revocations }: { partnerId: number | null; revocations: readonly string[] },
  settings: TrustedSettings,
): Revocations | RevocationsFault {
  const pages: RevocationPage[] = [];
  for (const jws of revocations) {
    const page = readPage(jws, settings.keys);
    if (typeof page === 'string') return page;
    if (page.event !== settings.eventId) return 'revocations-other-event';
    if (page.partner !== partnerId) return 'revocations-other-partner';
    pages.push(page);
  }
  const last = pages.at(-1);
  const isChain = pages.every(({ after }, index) => after === (pages[index - 1]?.cursor ?? '0'));
  if (!last || last.more || !isChain) return 'revocations-incomplete';
  if (!isRecent(last.at, settings)) return 'revocations-stale';
  const serials = new Set(pages.flatMap((page) => page.serials));
  return { eventId: settings.eventId, partnerId, serials, cursor: last.cursor, at: new Date(last.at) };
}

/** Returns the content of a revocation page that one of the keys signed, else the fault. */
export const readPage = (jws: string, keys: PassKeySet) => readDocument(jws, 'revocations', keys);

function isRecent(
  at: string,
  { maxAgeSeconds = MAX_AGE_SECONDS, now = new Date() }: Pick<TrustedSettings, 'maxAgeSeconds' | 'now'>,
): boolean {
  // A document from the future is refused as well: the door's clock is wrong then.
  return Math.abs(now.getTime() - Date.parse(at)) <= maxAgeSeconds * 1_000;
}

interface Documents {
  event: EventDocument;
  revocations: RevocationPage;
}

function readDocument<Type extends keyof Documents>(jws: string, type: Type, keys: PassKeySet) {
  const fault = <Fault extends DocumentFault>(name: Fault) => `${type}-${name}` as const;
  const [header = '', payload = '', signature = '', ...rest] = jws.split('.');
  const head = parsePart(header) as { alg?: unknown; kid?: unknown; typ?: unknown } | null;
  const isOfType = head?.typ === `floodgate-${type}` && head.alg === 'EdDSA';
  if (rest.length > 0 || !isOfType) return fault('malformed');
  const signed = Buffer.from(`${header}.${payload}`);
  const check = checkSignature(keys, head.kid, signed, Buffer.from(signature, 'base64url'));
  return check === 'genuine' ? (parsePart(payload) as Documents[Type]) : fault(check);
}

function parsePart(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return null;
  }
}

/** Returns whether the key with an id signed the data; `unknown-key` if the set does not have it. */
export function checkSignature({ keys }: PassKeySet, kid: unknown, data: Uint8Array, signature: Uint8Array) {
  const found = keys.find((key) => key.kid === kid);
  if (!found) return 'unknown-key';
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: found.x }, format: 'jwk' });
  return verify(null, data, key, signature) ? 'genuine' : 'forged';
}
