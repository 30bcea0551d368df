import type { Database } from '@floodgate/database';

/** Returns what may change of a partner, and keeps others from changing it. Undefined where there is none. */
export async function lockPartner(
  transaction: Database,
  partnerId: number,
): Promise<{ requestsPerSecond: number | null } | undefined> {
  return transaction
    .selectFrom('partners')
    .select('requests_per_second as requestsPerSecond')
    .where('id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
