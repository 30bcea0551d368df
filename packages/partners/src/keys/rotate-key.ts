import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { issueKey } from './issue-key.ts';

/**
 * Issues a successor to a key, which itself goes on working for `overlapHours` (0: ends at once) and never
 * longer than it would have. The successor ends when the key would have, or as `expiresAt` says (null: never).
 * Undefined where there is no such key that is still open.
 */
export async function rotateKey(db: Database, keyId: string, overlapHours: number, expiresAt?: Date | null) {
  return inTransaction(db, async (transaction) => {
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
    return { ...issued, previousKeyExpiredAt: previous.expiresAt, previousKeyEndsAt: previous.endsAt };
  });
}
