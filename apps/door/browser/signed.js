import { bytesOf, fromBase64Url } from './encoding.js';

/** @import { EventDocument, PublicKey, RevocationPage } from './wire.d.ts' */

const TOKEN = /^FG2\.([0-9A-V]{132})$/;
const REFERENCE = /^[A-Z0-9]+-\d+-(\d+)-\d+$/;
const FIELDS_BYTES = 18;

/**
 * Returns whether the key with this id signed the data.
 * @param {PublicKey[]} keys
 * @param {unknown} kid
 * @param {Uint8Array<ArrayBuffer>} data
 * @param {Uint8Array<ArrayBuffer>} signature
 */
async function checkSignature(keys, kid, data, signature) {
  const found = keys.find((key) => key.kid === kid);
  if (!found) return 'unknown-key';
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: found.x };
  const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
  return (await crypto.subtle.verify('Ed25519', key, signature, data)) ? 'genuine' : 'forged';
}

/**
 * Returns the 82 bytes of a token, or null. The last four bits must be zero, so that a pass has only one form.
 * @param {string} token
 */
function bytesOfToken(token) {
  const [, text] = TOKEN.exec(token) ?? [];
  if (text === undefined) return null;
  let bits = 0n;
  for (const character of text) bits = (bits << 5n) | BigInt(Number.parseInt(character, 32));
  if ((bits & 0xfn) !== 0n) return null;
  const pairs = (bits >> 4n).toString(16).padStart(164, '0').match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
const serialIn = (bytes) => Number(new DataView(bytes.buffer).getBigUint64(10));

/**
 * Returns the serial in the text of a pass or a pass reference, without checking it, or null.
 * @param {string} pass
 */
export function serialOf(pass) {
  const bytes = bytesOfToken(pass);
  if (bytes) return serialIn(bytes);
  const [, serial] = REFERENCE.exec(pass) ?? [];
  return serial === undefined ? null : Number(serial);
}

/**
 * Returns the content of a pass that one of the keys signed, otherwise the outcome.
 * @param {string} token
 * @param {PublicKey[]} keys
 */
export async function readPass(token, keys) {
  const bytes = bytesOfToken(token);
  if (!bytes) return 'unknown';
  const view = new DataView(bytes.buffer);
  const signed = new Uint8Array([...bytesOf('FG2.'), ...bytes.subarray(0, FIELDS_BYTES)]);
  const check = await checkSignature(keys, String(view.getUint16(0)), signed, bytes.slice(FIELDS_BYTES));
  if (check === 'unknown-key') return 'revoked';
  if (check === 'forged') return 'invalid-signature';
  return { eventID: view.getUint32(2), ticketID: view.getUint32(6), serial: serialIn(bytes) };
}

/** @param {string} part */
const parse = (part) => JSON.parse(new TextDecoder().decode(fromBase64Url(part)));

/**
 * Returns the content of a document that one of the keys signed. Throws if it is not genuine.
 * @template {'event' | 'revocations'} Type
 * @param {string} jws
 * @param {Type} type
 * @param {PublicKey[]} keys
 * @returns {Promise<Type extends 'event' ? EventDocument : RevocationPage>}
 */
export async function readDocument(jws, type, keys) {
  const [header = '', payload = '', signature = ''] = jws.split('.');
  const { alg, kid, typ } = parse(header);
  const signed = bytesOf(`${header}.${payload}`);
  const isOfType = alg === 'EdDSA' && typ === `floodgate-${type}`;
  if (!isOfType || (await checkSignature(keys, kid, signed, fromBase64Url(signature))) !== 'genuine')
    throw new Error(`The signed document of the ${type} is not genuine`);
  return parse(payload);
}
