import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readThroughCache, type Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { signDocument } from './documents.ts';
import { signPass, type PassSubject } from './token.ts';

const COLUMNS = [
  'id',
  'created_at as createdAt',
  // When a newer key replaced it.
  'retired_at as retiredAt',
  // When the passes that it signed became invalid.
  'withdrawn_at as withdrawnAt',
] as const;

/** Returns all keys, newest first, without the key material. */
export const listPassKeys = (db: Database) =>
  db.selectFrom('pass_keys').select(COLUMNS).orderBy('id', 'desc').execute();

export type PassKey = Awaited<ReturnType<typeof listPassKeys>>[number];

/** Reads the key that signs passes, and by id the keys that verify them: those that are not withdrawn. Throws if none signs. */
async function readSigningKeys(db: Database) {
  const rows = await db
    .selectFrom('pass_keys')
    .select(['id', 'private_key', 'public_key', 'retired_at'])
    .where('withdrawn_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  const newest = rows.find(({ retired_at }) => retired_at === null);
  if (!newest) throw new Error('no key signs passes; run "floodgate pass rotate" to make one');
  const privateKey = createPrivateKey({ key: newest.private_key, format: 'der', type: 'pkcs8' });
  const publicKeys = rows.map(({ id, public_key: key }) => {
    return [id, createPublicKey({ key, format: 'der', type: 'spki' })] as const;
  });
  return { signing: { id: newest.id, privateKey }, publicKeys: new Map(publicKeys) };
}

export type SigningKeys = Awaited<ReturnType<typeof readSigningKeys>>;

/** Returns what signs passes and documents with the keys of a database, which are at most one second old. */
export function createPassSigner({ db }: { db: Database }) {
  const cache = readThroughCache<'keys', SigningKeys>(() => readSigningKeys(db));
  const keys = async () => cache.get('keys') ?? (await cache.forceFetch('keys'));
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

/** Returns the public halves of the keys as a JWK set (RFC 7517, RFC 8037). */
export function jwkSetOf({ publicKeys }: Pick<SigningKeys, 'publicKeys'>) {
  const keys = Array.from(publicKeys, ([id, key]) => {
    const { x } = key.export({ format: 'jwk' });
    return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: String(id), x: x! };
  });
  return { keys };
}

// Spells "pass". Without it, two rotations at once would choose the same id.
const ROTATE_LOCK = 0x70617373;

/** Adds a key that signs from now on and retires the others. Rotations at the same time run one after the other. */
export async function rotatePassKey(transaction: Database): Promise<PassKey> {
  await sql`select pg_advisory_xact_lock(${ROTATE_LOCK})`.execute(transaction);
  const [newest] = await listPassKeys(transaction);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  await transaction
    .updateTable('pass_keys')
    .set({ retired_at: sql<Date>`now()` })
    .where('retired_at', 'is', null)
    .execute();
  return transaction
    .insertInto('pass_keys')
    .values({ id: (newest?.id ?? 0) + 1, private_key: privateKey, public_key: publicKey })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Makes all passes of a retired key invalid. Throws Failure if there is no such key, or if it still signs. */
export async function withdrawPassKey(transaction: Database, id: number) {
  const before = (await listPassKeys(transaction)).find((key) => key.id === id);
  if (!before) throw new Failure('no such key');
  if (before.retiredAt === null) throw new Failure('it still signs passes; rotate first');
  if (before.withdrawnAt !== null) return { before, after: before };
  const after = await transaction
    .updateTable('pass_keys')
    .set({ withdrawn_at: sql<Date>`now()` })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return { before, after };
}
