import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Limits a partner's requests, over all processes; null lifts the limit. Returns the limit before, undefined where there is
 * no such partner.
 */
export async function limitPartner(
  db: Database,
  partnerId: number,
  requestsPerSecond: number | null,
): Promise<{ requestsPerSecond: number | null } | undefined> {
  const { rows } = await sql<{ requestsPerSecond: number | null }>`
    with previous as (select id, requests_per_second from partners where id = ${partnerId} for no key update)
    update partners set requests_per_second = ${requestsPerSecond} from previous
    where partners.id = previous.id
    returning previous.requests_per_second as "requestsPerSecond"`.execute(db);
  return rows[0];
}
