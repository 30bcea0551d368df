import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, Mode } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';

const SECRET_KEY = /^fg_(test_)?([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

export interface SecretKey {
  keyId: string;
  secret: string;
  mode: Mode;
}

/** Takes a secret key (`fg_<key id>_<secret>`, `fg_test_<key id>_<secret>`) apart; null where the text cannot be one. */
export function parseSecretKey(text: string): SecretKey | null {
  const match = SECRET_KEY.exec(text);
  return match && { keyId: match[2]!, secret: match[3]!, mode: match[1] ? 'test' : 'live' };
}

const formatSecretKey = ({ keyId, secret, mode }: SecretKey) =>
  `fg_${mode === 'test' ? 'test_' : ''}${keyId}_${secret}`;

/** The only form in which a secret is stored. It has 256 random bits, so a fast hash is enough. */
export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest();

/** Compares in constant time. */
export const isSecretOf = (secret: string, hash: Buffer) => timingSafeEqual(hashSecret(secret), hash);

export type IssuedKey = Awaited<ReturnType<typeof issueKey>>;

/**
 * Issues a key to a partner. Its `secretKey` is shown once and stored nowhere. Throws a foreign-key error where there is
 * no such partner.
 */
export async function issueKey(
  db: Database,
  partnerId: number,
  expiresAt: Date | null = null,
  mode: Mode = 'live',
) {
  const keyId = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const key = { key_id: keyId, partner_id: partnerId, mode, expires_at: expiresAt };
  const row = { ...key, secret_hash: hashSecret(secret) };
  await db.insertInto('secret_keys').values(row).execute();
  return { keyId, secretKey: formatSecretKey({ keyId, secret, mode }), mode, expiresAt };
}

/**
 * Issues a successor to a key, which itself goes on working for `overlapHours` (0: ends at once) and never
 * longer than it would have. The successor is of the same mode and ends when the key would have, or as `expiresAt` says (null: never).
 * Undefined where there is no such key that is still open.
 */
export async function rotateKey(db: Database, keyId: string, overlapHours: number, expiresAt?: Date | null) {
  return inTransaction(db, async (transaction) => {
    // Two statements: Citus allows no now() within an expression that is written. As text, the time keeps its microseconds.
    const { rows } = await sql<{ partnerId: number; mode: Mode; expiresAt: Date | null; endsAtText: string }>`
      select partner_id as "partnerId", mode, expires_at as "expiresAt",
        least(expires_at, now() + make_interval(secs => ${overlapHours * 3600}))::text as "endsAtText"
      from secret_keys
      where key_id = ${keyId} and revoked_at is null and coalesce(expires_at > now(), true)
      for update`.execute(transaction);
    const previous = rows[0];
    if (!previous) return undefined;
    const { rows: ended } = await sql<{ endsAt: Date }>`
      update secret_keys set expires_at = ${previous.endsAtText}::timestamptz
      where key_id = ${keyId} returning expires_at as "endsAt"`.execute(transaction);
    const successorEndsAt = expiresAt === undefined ? previous.expiresAt : expiresAt;
    const issued = await issueKey(transaction, previous.partnerId, successorEndsAt, previous.mode);
    return { ...issued, previousKeyExpiredAt: previous.expiresAt, previousKeyEndsAt: ended[0]!.endsAt };
  });
}

/** Revokes a key; revoking twice is no error. Returns whether it was revoked before, undefined where there is no such key. */
export async function revokeKey(db: Database, keyId: string) {
  // Writes now() alone: Citus allows it in no expression that is written.
  const { rows } = await sql<{ revoked: boolean }>`
    with ended as (
      update secret_keys set revoked_at = now() where key_id = ${keyId} and revoked_at is null returning key_id
    )
    select not exists (select from ended) as revoked from secret_keys where key_id = ${keyId}`.execute(db);
  return rows[0];
}

/** Returns the keys of all partners, or of one, oldest first, without their secrets, and whether each opens anything. */
export async function listKeys(db: Database, partnerId?: number) {
  return db
    .selectFrom('secret_keys')
    .leftJoin('secret_key_uses', 'secret_key_uses.key_id', 'secret_keys.key_id')
    .select([
      'secret_keys.key_id as keyId',
      'partner_id as partnerId',
      'mode',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
      // The earliest that it can be: the last use is noted to the hour, and the hour in which a key was made has begun
      // before it.
      sql<Date | null>`case when hour is not null then greatest(hour, created_at) end`.as('lastUsedAt'),
      sql<'open' | 'revoked' | 'expired'>`case when revoked_at is not null then 'revoked'
        when expires_at <= now() then 'expired' else 'open' end`.as('state'),
    ])
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId!))
    .orderBy('partner_id')
    .orderBy('created_at')
    .execute();
}
