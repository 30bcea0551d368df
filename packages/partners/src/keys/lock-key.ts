import type { Database } from '@floodgate/database';

/** Returns what may change of a key, and keeps others from changing it. Undefined where there is none. */
export async function lockKey(
  transaction: Database,
  keyId: string,
): Promise<{ expiresAt: Date | null; revokedAt: Date | null } | undefined> {
  return transaction
    .selectFrom('secret_keys')
    .select(['expires_at as expiresAt', 'revoked_at as revokedAt'])
    .where('key_id', '=', keyId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
