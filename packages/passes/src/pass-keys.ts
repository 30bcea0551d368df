import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readThroughCache, type Database } from '@floodgate/database';
import { signDocument, type DocumentType } from './sign-document.ts';
import { signPass, type PassSubject, type SigningKey } from './token.ts';

// The keys that sign passes and documents.

/** The columns of a PassKey. */
export const COLUMNS = [
  'id',
  'created_at as createdAt',
  'retired_at as retiredAt',
  'withdrawn_at as withdrawnAt',
] as const;

/** A key, without the key material. */
export interface PassKey {
  id: number;
  createdAt: Date;
  /** When a newer key replaced it. */
  retiredAt: Date | null;
  /** When the passes that it signed became invalid. */
  withdrawnAt: Date | null;
}

/** Returns all keys, newest first. */
export const listPassKeys = (db: Database): Promise<PassKey[]> =>
  db.selectFrom('pass_keys').select(COLUMNS).orderBy('id', 'desc').execute();

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
 * Reads the signing key, and by id the public keys of all keys that are not withdrawn. Throws if there is no
 * signing key. Stores a public key that is not stored yet, before the key signs: the console checks passes,
 * and may not read private keys.
 */
async function readSigningKeys(db: Database): Promise<SigningKeys> {
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

/** The keys of the database. */
export interface SigningKeys {
  /** The key that signs. */
  signing: SigningKey;
  /** By id, the keys that are not withdrawn. */
  publicKeys: ReadonlyMap<number, KeyObject>;
  privateKeys: ReadonlyMap<number, KeyObject>;
}

/** Signs passes and documents. */
export interface PassSigner {
  keys(): Promise<SigningKeys>;
  /** Resolves to the pass of a registration. It stays the same until the signing key changes. */
  tokenFor(subject: PassSubject): Promise<string>;
  /** Resolves to a signed document. */
  sign(type: DocumentType, document: object): Promise<string>;
}

/** Returns the signer. It caches the keys of the database for one second. */
export function createPassSigner({ db }: { db: Database }): PassSigner {
  const cache = readThroughCache<'keys', SigningKeys>(() => readSigningKeys(db));
  const keys = () => cache.forceFetch('keys');
  return {
    keys,
    tokenFor: async (subject) => signPass(subject, (await keys()).signing),
    sign: async (type, document) => signDocument(type, document, (await keys()).signing),
  };
}

/** Returns the public keys as a JWK set (RFC 7517, RFC 8037). */
export function jwkSetOf({ publicKeys }: Pick<SigningKeys, 'publicKeys'>) {
  const keys = Array.from(publicKeys, ([id, key]) => {
    const { x } = key.export({ format: 'jwk' });
    return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: String(id), x: x! };
  });
  return { keys };
}
