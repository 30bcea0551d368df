import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { readThroughCache, type Database } from '@floodgate/database';
import { base32hexnopad } from '@scure/base';
import { encodeQR } from 'qr';

// A pass: its token, the keys that sign it, and its picture.

/** The registration that a pass admits. The serial identifies it. Revocation pages list serials. */
export type PassSubject = Record<'eventId' | 'ticketId' | 'serial', number>;

/** The content of a pass. It has no times: the event may move, so its times are in the event document. */
export type Pass = PassSubject & { keyId: number };

/** The private key that signs, with its id. */
interface SigningKey {
  id: number;
  privateKey: KeyObject;
}

// A token is "FG2." and 82 bytes in base32hex: 136 characters, all in the alphanumeric mode of QR codes. The signature covers the
// version, because the same keys also sign documents.
const VERSION = 'FG2.';
const FORM = /^FG2\.([0-9A-V]{132})$/;
const SIGNATURE_AT = 18;

/** Returns the token of a pass. Ed25519 is deterministic, so the same registration and key always give the same token. */
export function signPass({ eventId, ticketId, serial }: PassSubject, { id, privateKey }: SigningKey): string {
  const fields = Buffer.alloc(SIGNATURE_AT);
  fields.writeUInt16BE(id, 0);
  fields.writeUInt32BE(eventId, 2);
  fields.writeUInt32BE(ticketId, 6);
  fields.writeBigUInt64BE(BigInt(serial), 10);
  const signature = sign(null, signedBytes(fields), privateKey);
  return VERSION + base32hexnopad.encode(Buffer.concat([fields, signature]));
}

/** Returns a document as a compact JWS (RFC 7515, EdDSA). Its type prevents that one document is accepted as the other. */
export function signDocument(type: 'event' | 'revocations', document: object, key: SigningKey): string {
  const header = { alg: 'EdDSA', kid: String(key.id), typ: `floodgate-${type}` };
  const text = [header, document]
    .map((content) => Buffer.from(JSON.stringify(content)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
}

/** Returns the content of a pass that one of the keys signed, or the problem. Checks neither the time nor revocations. */
export function verifyPass(token: string, publicKeys: ReadonlyMap<number, KeyObject | null>) {
  const bytes = bytesOf(token);
  if (!bytes) return 'malformed';
  const pass = passOf(bytes);
  const publicKey = publicKeys.get(pass.keyId);
  if (!publicKey) return 'unknown-key';
  const signed = signedBytes(bytes.subarray(0, SIGNATURE_AT));
  return verify(null, signed, publicKey, bytes.subarray(SIGNATURE_AT)) ? pass : 'forged';
}

/** Like verifyPass, for those who have the private keys: to sign again and compare takes a third of the time. */
export function recognizePass(token: string, privateKeys: ReadonlyMap<number, KeyObject>) {
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

/** The columns of a key, without the key material. */
export const COLUMNS = [
  'id',
  'created_at as createdAt',
  // Time at which a newer key replaced it.
  'retired_at as retiredAt',
  // Time at which the passes that it signed became invalid.
  'withdrawn_at as withdrawnAt',
] as const;

/** Returns all keys, newest first. */
export const listPassKeys = (db: Database) =>
  db.selectFrom('pass_keys').select(COLUMNS).orderBy('id', 'desc').execute();

export type PassKey = Awaited<ReturnType<typeof listPassKeys>>[number];

/** By id, the public keys of all keys that are not withdrawn; null: not stored yet. Needs no private key. */
export async function readPublicKeys(db: Database) {
  const keys = db
    .selectFrom('pass_keys')
    .select(['id', 'public_key as key'])
    .where('withdrawn_at', 'is', null);
  const keyOf = (key: Buffer | null) => key && createPublicKey({ key, format: 'der', type: 'spki' });
  return new Map((await keys.execute()).map(({ id, key }) => [id, keyOf(key)]));
}

/**
 * Reads the signing key, and by id the public keys of all keys that are not withdrawn. Throws if there is no signing key. Stores a public
 * key that is not stored yet, before the key signs: the console checks passes, and may not read private keys.
 */
async function readSigningKeys(db: Database) {
  const rows = await db
    .selectFrom('pass_keys')
    .select(['id', 'private_key as key', 'public_key', 'retired_at'])
    .where('withdrawn_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  const keys = rows.map(({ key, ...row }) => {
    const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    return { ...row, privateKey, publicKey: createPublicKey(privateKey) };
  });
  const signing = keys.find(({ retired_at }) => retired_at === null);
  if (!signing) throw new Error('there is no signing key; run "floodgate pass rotate" to create one');
  for (const { id, publicKey } of keys.filter(({ public_key }) => public_key === null)) {
    const stored = { public_key: publicKey.export({ format: 'der', type: 'spki' }) };
    await db.updateTable('pass_keys').set(stored).where('id', '=', id).execute();
  }
  const publicKeys = new Map(keys.map(({ id, publicKey }) => [id, publicKey]));
  return { signing, publicKeys, privateKeys: new Map(keys.map(({ id, privateKey }) => [id, privateKey])) };
}

export type SigningKeys = Awaited<ReturnType<typeof readSigningKeys>>;

/** Returns the functions that sign passes and documents. They cache the keys of the database for one second. */
export function createPassSigner({ db }: { db: Database }) {
  const cache = readThroughCache<'keys', SigningKeys>(() => readSigningKeys(db));
  const keys = () => cache.forceFetch('keys');
  return {
    keys,
    /** Resolves to the pass of a registration. It stays the same until the signing key changes. */
    tokenFor: async (subject: PassSubject) => signPass(subject, (await keys()).signing),
    /** Resolves to a signed document. */
    sign: async (type: Parameters<typeof signDocument>[0], document: object) =>
      signDocument(type, document, (await keys()).signing),
  };
}

export type PassSigner = ReturnType<typeof createPassSigner>;

/** Returns the public keys as a JWK set (RFC 7517, RFC 8037). */
export function jwkSetOf({ publicKeys }: Pick<SigningKeys, 'publicKeys'>) {
  const keys = Array.from(publicKeys, ([id, key]) => {
    const { x } = key.export({ format: 'jwk' });
    return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: String(id), x: x! };
  });
  return { keys };
}

// A token has 136 characters of the alphanumeric mode: a code of 41 × 41 modules, 15 % of which may be unreadable. Scanners expect
// a border of four light modules.
// The mask is fixed. A signature is random, so none of the eight masks is better, and trying all of them takes twice as long.
const OPTIONS = { ecc: 'medium', encoding: 'alphanumeric', border: 4, mask: 3 } as const;
/** Default width of a module. */
const PIXELS_PER_MODULE = 8;

/** Returns the QR code of a token as an SVG picture. Black on white, because most scanners do not read inverted codes. */
export function qrSvg(token: string): string {
  const svg = encodeQR(token, 'svg', OPTIONS);
  const [, size = ''] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
  const pixels = Number(size) * PIXELS_PER_MODULE;
  const root = `<svg width="${pixels}" height="${pixels}" shape-rendering="crispEdges" role="img" aria-label="QR code of the pass"`;
  return svg.replace('<svg', root).replace('<path', `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path`);
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
// A small window: the default allocates 256 KB for each picture.
const PNG_COMPRESSION = { level: 3, windowBits: 10, memLevel: 3 };

/**
 * Returns the QR code of a token as a PNG picture with one bit per pixel, and 4 or 8 pixels per module. Every e-mail has a picture, so
 * speed matters: the zlib of Node.js takes 0.03 ms, a library in JavaScript takes 0.3 ms.
 */
export function qrPng(token: string, pixelsPerModule: 4 | 8 = PIXELS_PER_MODULE): Buffer {
  const rows = encodeQR(token, 'raw', OPTIONS);
  const size = rows.length * pixelsPerModule;
  const light = 2 ** pixelsPerModule - 1;
  // The first byte of a line is its filter type. 0: not filtered.
  const lineBytes = 1 + Math.ceil(size / 8);
  const data = Buffer.alloc(size * lineBytes);
  for (const [y, row] of rows.entries()) {
    const start = y * pixelsPerModule * lineBytes;
    for (let x = 0, pixel = 8; x < row.length; x += 1, pixel += pixelsPerModule)
      if (!row[x]) data[start + (pixel >> 3)]! |= light << (8 - pixelsPerModule - (pixel % 8));
    for (let line = 1; line < pixelsPerModule; line += 1)
      data.copyWithin(start + line * lineBytes, start, start + lineBytes);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.writeUInt8(1, 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(data, PNG_COMPRESSION)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4);
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  return chunk;
}
