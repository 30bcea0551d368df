import { sign, verify, type KeyObject } from 'node:crypto';
import { base32hexnopad } from '@scure/base';

// The token of a pass: its content and the signature.

/** The registration that a pass admits. The serial identifies it. Revocation pages list serials. */
export interface PassSubject {
  eventId: number;
  ticketId: number;
  serial: number;
}

/** The content of a pass. It has no times: the event may move, so its times are in the event document. */
export interface Pass extends PassSubject {
  keyId: number;
}

/** Why a text is not a pass of ours. */
export type PassProblem = 'malformed' | 'unknown-key' | 'forged';

/** The private key that signs, with its id. */
export interface SigningKey {
  id: number;
  privateKey: KeyObject;
}

// A token is "FG2." and 82 bytes in base32hex: 136 characters, all in the alphanumeric mode of QR codes. The
// signature covers the version, because the same keys also sign documents.
const VERSION = 'FG2.';
const FORM = /^FG2\.([0-9A-V]{132})$/;
const SIGNATURE_AT = 18;

/**
 * Returns the token of a pass. Ed25519 is deterministic, so the same registration and key always give the
 * same token.
 */
export function signPass({ eventId, ticketId, serial }: PassSubject, { id, privateKey }: SigningKey): string {
  const fields = Buffer.alloc(SIGNATURE_AT);
  fields.writeUInt16BE(id, 0);
  fields.writeUInt32BE(eventId, 2);
  fields.writeUInt32BE(ticketId, 6);
  fields.writeBigUInt64BE(BigInt(serial), 10);
  const signature = sign(null, signedBytes(fields), privateKey);
  return VERSION + base32hexnopad.encode(Buffer.concat([fields, signature]));
}

/**
 * Returns the content of a pass that one of the keys signed, or the problem. Checks neither the time nor
 * revocations.
 */
export function verifyPass(
  token: string,
  publicKeys: ReadonlyMap<number, KeyObject | null>,
): Pass | PassProblem {
  const bytes = bytesOf(token);
  if (!bytes) return 'malformed';
  const pass = passOf(bytes);
  const publicKey = publicKeys.get(pass.keyId);
  if (!publicKey) return 'unknown-key';
  const signed = signedBytes(bytes.subarray(0, SIGNATURE_AT));
  return verify(null, signed, publicKey, bytes.subarray(SIGNATURE_AT)) ? pass : 'forged';
}

/**
 * Like verifyPass, for those who have the private keys: to sign again and compare takes a third of the time.
 */
export function recognizePass(
  token: string,
  privateKeys: ReadonlyMap<number, KeyObject>,
): Pass | PassProblem {
  const pass = parsePass(token);
  if (!pass) return 'malformed';
  const privateKey = privateKeys.get(pass.keyId);
  if (!privateKey) return 'unknown-key';
  return signPass(pass, { id: pass.keyId, privateKey }) === token ? pass : 'forged';
}

/** Returns the content of a token without checking its signature, or null if the text is not a token. */
export function parsePass(token: string): Pass | null {
  const bytes = bytesOf(token);
  return bytes && passOf(bytes);
}

const signedBytes = (fields: Buffer) => Buffer.concat([Buffer.from(VERSION), fields]);

function bytesOf(token: string): Buffer | null {
  const [, text] = FORM.exec(token) ?? [];
  try {
    return text === undefined ? null : Buffer.from(base32hexnopad.decode(text));
  } catch {
    // The four bits after the last byte are not zero: a second spelling of the same pass.
    return null;
  }
}

function passOf(bytes: Buffer): Pass {
  return {
    keyId: bytes.readUInt16BE(0),
    eventId: bytes.readUInt32BE(2),
    ticketId: bytes.readUInt32BE(6),
    serial: Number(bytes.readBigUInt64BE(10)),
  };
}
