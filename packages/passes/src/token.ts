import { sign, verify, type KeyObject } from 'node:crypto';

/** What a pass says. */
export interface Pass {
  keyId: number;
  eventId: number;
  ticketId: number;
  /** Which registration: what the revocation list names. */
  serial: number;
  /** Null: there is no such border. */
  validFrom: Date | null;
  validUntil: Date | null;
}

// A token is "FG1." and 90 bytes in base32hex, which are 144 characters with nothing left over: so it has one form, and all
// of them are of the small alphabet of QR codes. The version is part of what is signed: a key signs other things, too.
const VERSION = 'FG1.';
const FORM = /^FG1\.([0-9A-V]{144})$/;
const SIGNATURE_AT = 26;

/** Returns the token of a pass. The same pass has the same token: Ed25519 draws nothing. */
export function signPass(pass: Pass, privateKey: KeyObject): string {
  const fields = Buffer.alloc(SIGNATURE_AT);
  fields.writeUInt16BE(pass.keyId, 0);
  fields.writeUInt32BE(pass.eventId, 2);
  fields.writeUInt32BE(pass.ticketId, 6);
  fields.writeBigUInt64BE(BigInt(pass.serial), 10);
  fields.writeUInt32BE(secondsOf(pass.validFrom, Math.floor), 18);
  fields.writeUInt32BE(secondsOf(pass.validUntil, Math.ceil), 22);
  const signature = sign(null, signedBytes(fields), privateKey);
  return VERSION + toBase32(Buffer.concat([fields, signature]));
}

/** Why a token lets nobody in. */
export type PassProblem = 'malformed' | 'unknown-key' | 'forged' | 'not-yet-valid' | 'expired';

/**
 * Returns what a token says if one of the keys signed it and it is valid now; else why not. Whether it was revoked stands in
 * another list.
 */
export function verifyPass(
  token: string,
  publicKeys: ReadonlyMap<number, KeyObject>,
  now = new Date(),
): Pass | PassProblem {
  const bytes = bytesOf(token);
  if (!bytes) return 'malformed';
  const pass = passOf(bytes);
  const publicKey = publicKeys.get(pass.keyId);
  if (!publicKey) return 'unknown-key';
  const signature = bytes.subarray(SIGNATURE_AT);
  if (!verify(null, signedBytes(bytes.subarray(0, SIGNATURE_AT)), publicKey, signature)) return 'forged';
  if (pass.validFrom && now < pass.validFrom) return 'not-yet-valid';
  if (pass.validUntil && now > pass.validUntil) return 'expired';
  return pass;
}

/** Returns what a token says, true or not; null where the text cannot be one. */
export function parsePass(token: string): Pass | null {
  const bytes = bytesOf(token);
  return bytes && passOf(bytes);
}

const signedBytes = (fields: Buffer) => Buffer.concat([Buffer.from(VERSION), fields]);

function bytesOf(token: string): Buffer | null {
  const [, text] = FORM.exec(token) ?? [];
  return text === undefined ? null : fromBase32(text);
}

function passOf(bytes: Buffer): Pass {
  return {
    keyId: bytes.readUInt16BE(0),
    eventId: bytes.readUInt32BE(2),
    ticketId: bytes.readUInt32BE(6),
    serial: Number(bytes.readBigUInt64BE(10)),
    validFrom: dateOf(bytes.readUInt32BE(18)),
    validUntil: dateOf(bytes.readUInt32BE(22)),
  };
}

const LAST_SECOND = 0xffff_ffff;

/** Seconds since 1970; 0 is none, so the first of them are none's. */
function secondsOf(instant: Date | null, round: (seconds: number) => number): number {
  if (instant === null) return 0;
  return Math.min(Math.max(round(instant.getTime() / 1_000), 1), LAST_SECOND);
}

const dateOf = (seconds: number) => (seconds === 0 ? null : new Date(seconds * 1_000));

// Base32hex is how JavaScript writes numbers with 32 digits.
const toBase32 = (bytes: Buffer) =>
  BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .toUpperCase()
    .padStart((bytes.length * 8) / 5, '0');

function fromBase32(text: string): Buffer {
  let number = 0n;
  for (let at = 0; at < text.length; at += 8)
    number = (number << 40n) | BigInt(parseInt(text.slice(at, at + 8), 32));
  return Buffer.from(number.toString(16).padStart((text.length * 5) / 4, '0'), 'hex');
}
