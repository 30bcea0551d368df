import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** What is known of a key later on. */
export type SecretKeyRow = Awaited<ReturnType<typeof listKeys>>[number];

/** Returns the keys of all partners, or of one, oldest first. */
export async function listKeys(db: Database, partnerId?: number) {
  return db
    .selectFrom('secret_keys')
    .select([
      'key_id as keyId',
      'partner_id as partnerId',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
      // The earliest that it can be: the last use is noted to the hour, and the hour in which a key was made has begun
      // before it.
      sql<Date | null>`case when last_used_at is not null then greatest(last_used_at, created_at) end`.as(
        'lastUsedAt',
      ),
    ])
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId!))
    .orderBy('partner_id')
    .orderBy('created_at')
    .execute();
}
