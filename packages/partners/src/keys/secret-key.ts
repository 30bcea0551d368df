import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_KEY = /^fg_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** Draws a new key: its id, its secret, and both as the partner is given them. */
export function drawSecretKey(): { keyId: string; secret: string; secretKey: string } {
  const keyId = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  return { keyId, secret, secretKey: `fg_${keyId}_${secret}` };
}

/** Takes a secret key (`fg_<key id>_<secret>`) apart; null where the text cannot be one. */
export function parseSecretKey(text: string): { keyId: string; secret: string } | null {
  const match = SECRET_KEY.exec(text);
  return match ? { keyId: match[1]!, secret: match[2]! } : null;
}

/** The only form in which a secret is stored. It has 256 random bits, so a fast hash is enough. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compares in constant time. */
export function isSecretOf(secret: string, hash: Buffer): boolean {
  return timingSafeEqual(hashSecret(secret), hash);
}
