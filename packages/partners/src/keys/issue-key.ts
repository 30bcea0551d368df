import type { Database } from '@floodgate/database';
import { drawSecretKey, hashSecret } from './secret-key.ts';

/** A freshly made key. `secretKey` is shown once and stored nowhere. */
export interface IssuedKey {
  keyId: string;
  secretKey: string;
  expiresAt: Date | null;
}

/** Issues a key to a partner. Throws a foreign-key error where there is no such partner. */
export async function issueKey(
  db: Database,
  partnerId: number,
  expiresAt: Date | null = null,
): Promise<IssuedKey> {
  const { keyId, secret, secretKey } = drawSecretKey();
  await db
    .insertInto('secret_keys')
    .values({
      key_id: keyId,
      partner_id: partnerId,
      secret_hash: hashSecret(secret),
      expires_at: expiresAt,
    })
    .execute();
  return { keyId, secretKey, expiresAt };
}
