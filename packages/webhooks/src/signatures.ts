import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

// Standard Webhooks: each message is signed with a shared secret (v1) and with a private key (v1a).

/** The signing keys of an endpoint. */
export interface SigningKeys {
  secret: Buffer;
  /** Ed25519, 32 bytes each. */
  privateKey: Buffer;
  publicKey: Buffer;
}

const SECRET_BYTES = 32;
const ED25519_BYTES = 32;
/** The PKCS#8 prefix of a private key's 32 bytes (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Creates new keys. */
export function createSigningKeys(): SigningKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    secret: randomBytes(SECRET_BYTES),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-ED25519_BYTES),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-ED25519_BYTES),
  };
}

/** The secret as its partner sees it, once. */
export const secretText = (secret: Buffer) => `whsec_${secret.toString('base64')}`;
/** The public key as its partner sees it. */
export const publicKeyText = (publicKey: Buffer) => `whpk_${publicKey.toString('base64')}`;

/** Returns the header webhook-signature: a signature by each valid key. */
export type Signer = (id: string, timestamp: number, body: string) => string;

/** Returns a signer with these keys, newest first. */
export function createSigner(keys: readonly Pick<SigningKeys, 'secret' | 'privateKey'>[]): Signer {
  const signers = keys.map(({ secret, privateKey }) => {
    const der = Buffer.concat([PKCS8_HEAD, privateKey]);
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
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
