import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import { HOUSE_PARTNER_ID, inCamelCase, type Database, type Mode } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';

const SECRET_KEY = /^fg_(test_)?([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

export interface SecretKey {
  keyId: string;
  secret: string;
  mode: Mode;
}

/**
 * Parses a secret key (`fg_<key id>_<secret>`, `fg_test_<key id>_<secret>`). Returns null for any other text.
 */
export function parseSecretKey(text: string): SecretKey | null {
  const match = SECRET_KEY.exec(text);
  return match && { keyId: match[2]!, secret: match[3]!, mode: match[1] ? 'test' : 'live' };
}

const formatSecretKey = ({ keyId, secret, mode }: SecretKey) =>
  `fg_${mode === 'test' ? 'test_' : ''}${keyId}_${secret}`;

/** The only form in which a secret is stored. It has 256 random bits, so a fast hash is enough. */
export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest();

/** Compares a secret with a hash, in constant time. */
export const isSecretOf = (secret: string, hash: Buffer) => timingSafeEqual(hashSecret(secret), hash);

export interface IssuedKey {
  keyId: string;
  /** The whole key. It is shown once and stored nowhere. */
  secretKey: string;
  mode: Mode;
  /** Null: never. */
  expiresAt: Date | null;
}

/**
 * Issues a key to a partner. Throws a foreign-key error if there is no such partner, and Failure if it is the
 * house partner.
 */
export async function issueKey(
  db: Database,
  partnerId: number,
  expiresAt: Date | null = null,
  mode: Mode = 'live',
): Promise<IssuedKey> {
  if (partnerId === HOUSE_PARTNER_ID)
    throw new Failure("this partner registers the operator's own guests, so it has no keys");
  const keyId = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const row = { keyId, partnerId, mode, expiresAt, secretHash: hashSecret(secret) };
  await inCamelCase(db).insertInto('secretKeys').values(row).execute();
  return { keyId, secretKey: formatSecretKey({ keyId, secret, mode }), mode, expiresAt };
}

/**
 * Issues a successor to an open key, in the caller's transaction. The old key works for `overlapMs` (0: it
 * ends immediately), but never longer than before. The successor has the same mode. It expires at `expiresAt`
 * (null: never), by default when the old key would have expired. Returns undefined if there is no such open
 * key.
 */
export async function rotateKey(db: Database, keyId: string, overlapMs: number, expiresAt?: Date | null) {
  // Two statements, because Citus does not allow now() within a written expression. As text, the time keeps
  // its microseconds.
  const { rows } = await sql<{ partnerId: number; mode: Mode; expiresAt: Date | null; endsAtText: string }>`
    select partner_id, mode, expires_at,
      least(expires_at, now() + make_interval(secs => ${overlapMs / 1000}))::text as ends_at_text
    from secret_keys
    where key_id = ${keyId} and revoked_at is null and coalesce(expires_at > now(), true)
    for update`.execute(inCamelCase(db));
  const previous = rows[0];
  if (!previous) return undefined;
  const { rows: ended } = await sql<{ endsAt: Date }>`
    update secret_keys set expires_at = ${previous.endsAtText}::timestamptz
    where key_id = ${keyId} returning expires_at as "endsAt"`.execute(db);
  const successorEndsAt = expiresAt === undefined ? previous.expiresAt : expiresAt;
  const issued = await issueKey(db, previous.partnerId, successorEndsAt, previous.mode);
  return { ...issued, previousKeyExpiredAt: previous.expiresAt, previousKeyEndsAt: ended[0]!.endsAt };
}

/**
 * Revokes a key. Safe to repeat. Returns whether it was revoked before, or undefined if there is no such key.
 */
export async function revokeKey(db: Database, keyId: string) {
  // Writes now() alone, because Citus does not allow it within a written expression.
  const { rows } = await sql<{ revoked: boolean }>`
    with ended as (
      update secret_keys set revoked_at = now() where key_id = ${keyId} and revoked_at is null returning key_id
    )
    select not exists (select from ended) as revoked from secret_keys where key_id = ${keyId}`.execute(db);
  return rows[0];
}

/** A key without its secret. */
export interface ListedKey {
  keyId: string;
  partnerId: number;
  mode: Mode;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** The earliest possible time: the last use is recorded by the hour. */
  lastUsedAt: Date | null;
  state: 'open' | 'revoked' | 'expired';
}

/**
 * Returns the keys of all partners, or of one, oldest first, with their state and last use, without their
 * secrets.
 */
export async function listKeys(db: Database, partnerId?: number): Promise<ListedKey[]> {
  return inCamelCase(db)
    .selectFrom('secretKeys')
    .leftJoin('secretKeyUses', 'secretKeyUses.keyId', 'secretKeys.keyId')
    .select([
      'secretKeys.keyId',
      'partnerId',
      'mode',
      'createdAt',
      'expiresAt',
      'revokedAt',
      // The first hour of a key began before the key was created.
      sql<Date | null>`case when hour is not null then greatest(hour, created_at) end`.as('lastUsedAt'),
      sql<'open' | 'revoked' | 'expired'>`case when revoked_at is not null then 'revoked'
        when expires_at <= now() then 'expired' else 'open' end`.as('state'),
    ])
    .$if(partnerId !== undefined, (query) => query.where('partnerId', '=', partnerId!))
    .orderBy('partnerId')
    .orderBy('createdAt')
    .execute();
}
