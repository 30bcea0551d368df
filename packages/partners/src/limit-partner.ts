import type { Database } from '@floodgate/database';

/** Limits a partner's requests, over all processes; null lifts the limit. False where there is no such partner. */
export async function limitPartner(
  db: Database,
  partnerId: number,
  requestsPerSecond: number | null,
): Promise<boolean> {
  const limited = await db
    .updateTable('partners')
    .set({ requests_per_second: requestsPerSecond })
    .where('id', '=', partnerId)
    .returning('id')
    .executeTakeFirst();
  return limited !== undefined;
}
