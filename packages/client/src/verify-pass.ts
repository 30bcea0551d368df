import { createPublicKey, verify, type KeyObject } from 'node:crypto';

/** The public keys as /.well-known/floodgate/pass-keys.json has them. */
export interface PassKeySet {
  keys: readonly { kid: string; x: string }[];
}

/** What a door knows before it scans the first pass. */
export interface DoorSettings {
  keys: PassKeySet;
  /** `organizedEventID` of the event that the door admits to. */
  eventId: number;
  /** Whose passes the revocation pages list. Null: those of all partners, from `floodgate pass revoked`. */
  partnerId: number | null;
  /** Every revocation page from the first one on, in order. */
  revocations: readonly string[];
  /** Oldest list that is accepted, in seconds; 3,600 by default. */
  maxAgeSeconds?: number;
  /** The current time by default. */
  now?: Date;
}

/** Why the revocation pages cannot be used. No pass is valid until they are replaced. */
export type RevocationsFault =
  | 'revocations-malformed'
  | 'revocations-unknown-key'
  | 'revocations-forged'
  | 'revocations-other-event'
  | 'revocations-other-partner'
  /** A page is missing: at the start, in between or at the end. */
  | 'revocations-incomplete'
  | 'revocations-stale';

export type PassRefusal =
  | 'malformed'
  /** The key set is older than the pass's key, or the key was withdrawn: fetch the keys again. */
  | 'unknown-key'
  | 'forged'
  | 'other-event'
  | 'not-yet-valid'
  | 'expired'
  | 'revoked'
  | RevocationsFault;

export type PassVerdict =
  | {
      valid: true;
      ticketId: number;
      /** Identifies the registration. Admit each serial once. */
      serial: number;
      /** Null: the event has no such time. */
      validFrom: Date | null;
      validUntil: Date | null;
    }
  | { valid: false; reason: PassRefusal };

/** What verified pages say. */
export interface Revocations {
  eventId: number;
  partnerId: number | null;
  serials: ReadonlySet<number>;
  /** Where the next page begins. */
  cursor: string;
  /** When the last page was made. */
  at: Date;
}

const MAX_AGE_SECONDS = 3_600;
const PASS = /^FG1\.([0-9A-V]{144})$/;
const PAGE_TYPE = 'floodgate-revocations';
const FIELDS_BYTES = 26;

/**
 * Returns whether a pass admits its holder now, and the reason if not. Needs no network. The keys, the event and the partner have to
 * come from a trusted place; pass and pages may come from anywhere. Does not know who is inside already.
 */
export function verifyPass(pass: string, settings: DoorSettings): PassVerdict {
  const { keys, eventId, now = new Date() } = settings;
  const said = readPass(pass, keys);
  if (typeof said === 'string') return { valid: false, reason: said };
  const { ticketId, serial, validFrom, validUntil } = said;
  if (said.eventId !== eventId) return { valid: false, reason: 'other-event' };
  const fault = timeFault(said, now);
  if (fault) return { valid: false, reason: fault };
  const revocations = readRevocations(settings);
  if (typeof revocations === 'string') return { valid: false, reason: revocations };
  if (revocations.serials.has(serial)) return { valid: false, reason: 'revoked' };
  return { valid: true, ticketId, serial, validFrom, validUntil };
}

/** Returns what a pass says if one of the keys signed it; else why not. */
function readPass(pass: string, keys: PassKeySet) {
  const [, text] = PASS.exec(pass) ?? [];
  if (text === undefined) return 'malformed';
  const bytes = fromBase32(text);
  const fields = bytes.subarray(0, FIELDS_BYTES);
  const key = findKey(keys, String(fields.readUInt16BE(0)));
  if (!key) return 'unknown-key';
  const signed = Buffer.concat([Buffer.from('FG1.'), fields]);
  if (!verify(null, signed, key, bytes.subarray(FIELDS_BYTES))) return 'forged';
  return {
    eventId: fields.readUInt32BE(2),
    ticketId: fields.readUInt32BE(6),
    serial: Number(fields.readBigUInt64BE(10)),
    validFrom: dateOf(fields.readUInt32BE(18)),
    validUntil: dateOf(fields.readUInt32BE(22)),
  };
}

type Validity = { validFrom: Date | null; validUntil: Date | null };

function timeFault({ validFrom, validUntil }: Validity, now: Date): 'not-yet-valid' | 'expired' | undefined {
  if (validFrom && now < validFrom) return 'not-yet-valid';
  return validUntil && now > validUntil ? 'expired' : undefined;
}

interface Page {
  event: number;
  partner: number | null;
  after: string;
  cursor: string;
  more: boolean;
  serials: number[];
  at: string;
}

/** Returns what the pages say if they are the complete and recent list of this event and partner; else why not. */
export function readRevocations(settings: DoorSettings): Revocations | RevocationsFault {
  const { eventId, partnerId } = settings;
  const pages: Page[] = [];
  for (const jws of settings.revocations) {
    const page = readPage(jws, settings.keys);
    if (typeof page === 'string') return page;
    if (page.event !== eventId) return 'revocations-other-event';
    if (page.partner !== partnerId) return 'revocations-other-partner';
    pages.push(page);
  }
  const last = pages.at(-1);
  const isChain = pages.every(({ after }, index) => after === (pages[index - 1]?.cursor ?? '0'));
  if (!last || last.more || !isChain) return 'revocations-incomplete';
  const at = new Date(last.at);
  if (!isRecent(at, settings)) return 'revocations-stale';
  const serials = new Set(pages.flatMap((page) => page.serials));
  return { eventId, partnerId, serials, cursor: last.cursor, at };
}

function isRecent(at: Date, { maxAgeSeconds = MAX_AGE_SECONDS, now = new Date() }: DoorSettings): boolean {
  // A list from the future is refused as well: the door's clock is wrong then.
  return Math.abs(now.getTime() - at.getTime()) <= maxAgeSeconds * 1_000;
}

/** Returns the content of a page if one of the keys signed it as a page of revocations; else why not. */
export function readPage(jws: string, keys: PassKeySet): Page | RevocationsFault {
  const [header = '', payload = '', signature = '', ...rest] = jws.split('.');
  const head = parsePart(header) as { alg?: unknown; kid?: unknown; typ?: unknown } | null;
  if (rest.length > 0 || head?.typ !== PAGE_TYPE || head.alg !== 'EdDSA') return 'revocations-malformed';
  const key = findKey(keys, head.kid);
  if (!key) return 'revocations-unknown-key';
  const isSigned = verify(
    null,
    Buffer.from(`${header}.${payload}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  return isSigned ? (parsePart(payload) as Page) : 'revocations-forged';
}

function parsePart(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return null;
  }
}

function findKey({ keys }: PassKeySet, kid: unknown): KeyObject | undefined {
  const found = keys.find((key) => key.kid === kid);
  return found && createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: found.x }, format: 'jwk' });
}

const dateOf = (seconds: number) => (seconds === 0 ? null : new Date(seconds * 1_000));

/** 8 characters of base32hex are 5 bytes. */
function fromBase32(text: string): Buffer {
  const groups = text.match(/.{8}/g) ?? [];
  return Buffer.from(
    groups.map((group) => parseInt(group, 32).toString(16).padStart(10, '0')).join(''),
    'hex',
  );
}
