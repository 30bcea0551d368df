import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

const SECRET_KEY = /^fg_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** A freshly made key. `secretKey` is shown once and stored nowhere. */
export interface IssuedKey {
  keyId: string;
  secretKey: string;
  expiresAt: Date | null;
}

/** What is known of a key later on. */
export interface SecretKeyRow {
  keyId: string;
  partnerId: number;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

/** Takes a secret key (`fg_<key id>_<secret>`) apart; null where the text cannot be one. */
export function parseSecretKey(text: string): { keyId: string; secret: string } | null {
  const match = SECRET_KEY.exec(text);
  return match ? { keyId: match[1]!, secret: match[2]! } : null;
}

/** The only form in which a secret is stored. It has 256 random bits, so a fast hash is enough. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compares in constant time. */
export function isSecretOf(secret: string, hash: Buffer): boolean {
  return timingSafeEqual(hashSecret(secret), hash);
}

/** Issues a key to a partner. Throws a foreign-key error where there is no such partner. */
export async function issueKey(
  db: Database,
  partnerId: number,
  expiresAt: Date | null = null,
): Promise<IssuedKey> {
  const keyId = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  await db
    .insertInto('secret_keys')
    .values({
      key_id: keyId,
      partner_id: partnerId,
      secret_hash: hashSecret(secret),
      expires_at: expiresAt,
    })
    .execute();
  return { keyId, secretKey: `fg_${keyId}_${secret}`, expiresAt };
}

/**
 * Issues a successor to a key, which itself goes on working for `overlapHours` (0: ends at once) and never
 * longer than it would have. The successor ends when the key would have, or as `expiresAt` says (null: never).
 * Undefined where there is no such key that is still open.
 */
export async function rotateKey(
  db: Database,
  keyId: string,
  overlapHours: number,
  expiresAt?: Date | null,
): Promise<(IssuedKey & { previousKeyEndsAt: Date }) | undefined> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ partnerId: number; expiresAt: Date | null; endsAt: Date }>`
      with previous as (
        select key_id, expires_at from secret_keys
        where key_id = ${keyId} and revoked_at is null and coalesce(expires_at > now(), true)
        for update
      )
      update secret_keys
      set expires_at = least(previous.expires_at, now() + make_interval(secs => ${overlapHours * 3600}))
      from previous
      where secret_keys.key_id = previous.key_id
      returning partner_id as "partnerId", previous.expires_at as "expiresAt", secret_keys.expires_at as "endsAt"`.execute(
      transaction,
    );
    const previous = rows[0];
    if (!previous) return undefined;
    const successorEndsAt = expiresAt === undefined ? previous.expiresAt : expiresAt;
    const issued = await issueKey(transaction, previous.partnerId, successorEndsAt);
    return { ...issued, previousKeyEndsAt: previous.endsAt };
  });
}

/** Revokes a key. False where there is no such key; revoking twice is no error. */
export async function revokeKey(db: Database, keyId: string): Promise<boolean> {
  const revoked = await db
    .updateTable('secret_keys')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('key_id', '=', keyId)
    .returning('key_id')
    .executeTakeFirst();
  return revoked !== undefined;
}

export async function listKeys(db: Database, partnerId?: number): Promise<SecretKeyRow[]> {
  let query = db
    .selectFrom('secret_keys')
    .select([
      'key_id as keyId',
      'partner_id as partnerId',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
      'last_used_at as lastUsedAt',
    ])
    .orderBy('partner_id')
    .orderBy('created_at');
  if (partnerId !== undefined) query = query.where('partner_id', '=', partnerId);
  return query.execute();
}
