import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

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
