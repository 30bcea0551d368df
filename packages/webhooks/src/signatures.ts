import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';

// Standard Webhooks: what a receiver checks is signed with a shared secret (v1), and with a key whose public half is enough (v1a).

/** What the messages of an endpoint are signed with. */
export interface SigningKeys {
  secret: Buffer;
  /** Of Ed25519, 32 bytes each. */
  privateKey: Buffer;
  publicKey: Buffer;
}

const SECRET_BYTES = 32;
const ED25519_BYTES = 32;
/** What stands before the 32 bytes of a private key in PKCS#8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Makes new keys. */
export function createSigningKeys(): SigningKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    secret: randomBytes(SECRET_BYTES),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-ED25519_BYTES),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-ED25519_BYTES),
  };
}

/** The secret as its owner is shown it, once. */
export const secretText = (secret: Buffer) => `whsec_${secret.toString('base64')}`;
/** The public key as anybody may see it. */
export const publicKeyText = (publicKey: Buffer) => `whpk_${publicKey.toString('base64')}`;

/** Signs text with all keys that are valid. Returns the value of webhook-signature. */
export type Signer = (id: string, timestamp: number, body: string) => string;

/** Returns what signs messages with each of these keys, the newest first. */
export function createSigner(keys: readonly Pick<SigningKeys, 'secret' | 'privateKey'>[]): Signer {
  const signers = keys.map(({ secret, privateKey }) => {
    const key = privateKeyOf(privateKey);
    return (content: Buffer) => [
      `v1,${createHmac('sha256', secret).update(content).digest('base64')}`,
      `v1a,${sign(null, content, key).toString('base64')}`,
    ];
  });
  return (id, timestamp, body) => {
    const content = Buffer.from(`${id}.${timestamp}.${body}`);
    return signers.flatMap((signOne) => signOne(content)).join(' ');
  };
}

const privateKeyOf = (privateKey: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, privateKey]), format: 'der', type: 'pkcs8' });
