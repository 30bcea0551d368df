import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readThroughCache, type Database } from '@floodgate/database';
import { signDocument } from './documents.ts';
import { signPass, type PassSubject } from './token.ts';

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

/** Reads the signing key, and by id the public keys of all keys that are not withdrawn. Throws if there is no signing key. */
async function readSigningKeys(db: Database) {
  const rows = await db
    .selectFrom('pass_keys')
    .select(['id', 'private_key as key', 'retired_at'])
    .where('withdrawn_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  const keys = rows.map(({ key, ...row }) => {
    return { ...row, privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }) };
  });
  const signing = keys.find(({ retired_at }) => retired_at === null);
  if (!signing) throw new Error('there is no signing key; run "floodgate pass rotate" to create one');
  return {
    signing,
    publicKeys: new Map(keys.map(({ id, privateKey }) => [id, createPublicKey(privateKey)])),
  };
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
