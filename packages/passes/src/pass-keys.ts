import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readThroughCache, type Database } from '@floodgate/database';
import { signPass, type PassSubject, type SigningKey } from './token.ts';

// The keys that sign passes and documents.

/** Returns a document as a compact JWS (RFC 7515, EdDSA). Its type prevents that one document is accepted as the other. */
export function signDocument(type: 'event' | 'revocations', document: object, key: SigningKey): string {
  const header = { alg: 'EdDSA', kid: String(key.id), typ: `floodgate-${type}` };
  const text = [header, document]
    .map((content) => Buffer.from(JSON.stringify(content)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
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
