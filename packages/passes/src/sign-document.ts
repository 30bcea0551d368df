import { sign } from 'node:crypto';
import type { SigningKey } from './token.ts';

/** The documents that doors need in addition to the keys. */
export type DocumentType = 'event' | 'revocations';

// Own code instead of a JOSE library: with one fixed algorithm, the format is one signature and two dots.

/**
 * Returns a document as a compact JWS (RFC 7515, EdDSA). Its type prevents that one document is accepted as
 * the other.
 */
export function signDocument(type: DocumentType, document: object, key: SigningKey): string {
  const header = { alg: 'EdDSA', kid: String(key.id), typ: `floodgate-${type}` };
  const text = [header, document]
    .map((content) => Buffer.from(JSON.stringify(content)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
}
