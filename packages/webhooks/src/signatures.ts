import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

// Standard Webhooks: each message is signed with a shared secret (v1) and with a private key (v1a).

/** The signing keys of an endpoint, 32 bytes each. */
export type SigningKeys = ReturnType<typeof createSigningKeys>;

const SECRET_BYTES = 32;

/** Creates new keys. */
export function createSigningKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    secret: randomBytes(SECRET_BYTES),
    privateKey: privateKey.export({ format: 'raw-private' }),
    publicKey: publicKey.export({ format: 'raw-public' }),
  };
}

/** The secret as its partner sees it, once. */
export const secretText = (secret: Buffer) => `whsec_${secret.toString('base64')}`;
/** The public key as its partner sees it. */
export const publicKeyText = (publicKey: Buffer) => `whpk_${publicKey.toString('base64')}`;

/** Returns a function that builds the header webhook-signature: one signature per key, newest key first. */
export function createSigner(keys: readonly Record<'secret' | 'privateKey', Buffer>[]) {
  const signers = keys.map(({ secret, privateKey }) => {
    const key = createPrivateKey({ key: privateKey, format: 'raw-private', asymmetricKeyType: 'ed25519' });
    return (content: Buffer) => [
      `v1,${createHmac('sha256', secret).update(content).digest('base64')}`,
      `v1a,${sign(null, content, key).toString('base64')}`,
    ];
  });
  return (id: string, timestamp: number, body: string) => {
    const content = Buffer.from(`${id}.${timestamp}.${body}`);
    return signers.flatMap((signOne) => signOne(content)).join(' ');
  };
}
