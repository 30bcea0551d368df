import { createPublicKey, verify } from 'node:crypto';

/**
 * Returns the text that a device signs or hashes: these parts, with the version of the format. Null is an
 * empty line.
 */
export const textOf = (...parts: (string | number | null)[]) => ['FGD1', ...parts].join('\n');

/** Returns whether the raw Ed25519 key signed the text. `signature`: base64url. */
export function isSignedBy(key: Buffer, text: string, signature: string): boolean {
  try {
    const x = key.toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
  } catch {
    // Not a key.
    return false;
  }
}
