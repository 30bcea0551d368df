import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Revokes a key; revoking twice is no error. Returns whether it was revoked before, undefined where there is no such key. */
export async function revokeKey(db: Database, keyId: string): Promise<{ revoked: boolean } | undefined> {
  const { rows } = await sql<{ revoked: boolean }>`
    with previous as (select key_id, revoked_at from secret_keys where key_id = ${keyId} for no key update)
    update secret_keys set revoked_at = coalesce(previous.revoked_at, now()) from previous
    where secret_keys.key_id = previous.key_id
    returning previous.revoked_at is not null as revoked`.execute(db);
  return rows[0];
}
