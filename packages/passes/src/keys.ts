import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import type { SigningKey } from './token.ts';

/** A key that signs passes, as operators see it. */
export interface PassKey {
  id: number;
  createdAt: Date;
  /** When a newer key replaced it. */
  retiredAt: Date | null;
  /** When the passes that it signed became invalid. */
  withdrawnAt: Date | null;
}

/** The key that signs passes, and the keys that verify them. */
export interface SigningKeys {
  signing: SigningKey;
  /** By id: the signing key and the retired keys that are not withdrawn. */
  publicKeys: ReadonlyMap<number, KeyObject>;
}

const PASS_KEY_COLUMNS = [
  'id',
  'created_at as createdAt',
  'retired_at as retiredAt',
  'withdrawn_at as withdrawnAt',
] as const;

/** Reads the current keys. Throws if none signs. */
export async function readSigningKeys(db: Database): Promise<SigningKeys> {
  const rows = await db
    .selectFrom('pass_keys')
    .select(['id', 'private_key', 'public_key', 'retired_at'])
    .where('withdrawn_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  const newest = rows.find(({ retired_at }) => retired_at === null);
  if (!newest) throw new Error('no key signs passes; run "floodgate pass rotate" to make one');
  return {
    signing: {
      id: newest.id,
      privateKey: createPrivateKey({ key: newest.private_key, format: 'der', type: 'pkcs8' }),
    },
    publicKeys: new Map(rows.map(({ id, public_key }) => [id, publicKeyOf(public_key)])),
  };
}

const publicKeyOf = (key: Buffer) => createPublicKey({ key, format: 'der', type: 'spki' });

/** Returns the public halves of the keys as a JWK set (RFC 7517, RFC 8037). */
export function jwkSetOf({ publicKeys }: Pick<SigningKeys, 'publicKeys'>) {
  const keys = Array.from(publicKeys, ([id, key]) => {
    const { x } = key.export({ format: 'jwk' });
    return { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: String(id), x: x! };
  });
  return { keys };
}

/** Returns all keys, newest first, without the key material. */
export async function listPassKeys(db: Database): Promise<PassKey[]> {
  return db.selectFrom('pass_keys').select(PASS_KEY_COLUMNS).orderBy('id', 'desc').execute();
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
  const created = await transaction
    .insertInto('pass_keys')
    .values({ id: (newest?.id ?? 0) + 1, private_key: privateKey, public_key: publicKey })
    .returning(PASS_KEY_COLUMNS)
    .executeTakeFirstOrThrow();
  await transaction
    .updateTable('pass_keys')
    .set({ retired_at: sql<Date>`now()` })
    .where('id', '<', created.id)
    .where('retired_at', 'is', null)
    .execute();
  return created;
}

/** Makes all passes of a retired key invalid. Throws Failure if there is no such key, or if it still signs. */
export async function withdrawPassKey(transaction: Database, id: number) {
  const keys = transaction.selectFrom('pass_keys').select(PASS_KEY_COLUMNS).where('id', '=', id);
  const before = await keys.executeTakeFirst();
  if (!before) throw new Failure('no such key');
  if (before.retiredAt === null) throw new Failure('it still signs passes; rotate first');
  if (before.withdrawnAt !== null) return { before, after: before };
  const after = await transaction
    .updateTable('pass_keys')
    .set({ withdrawn_at: sql<Date>`now()` })
    .where('id', '=', id)
    .returning(PASS_KEY_COLUMNS)
    .executeTakeFirstOrThrow();
  return { before, after };
}
