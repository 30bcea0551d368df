import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** A partner with what it may use. */
export interface PartnerRow {
  id: number;
  name: string;
  createdAt: Date;
  /** Null: no limit. */
  requestsPerSecond: number | null;
  openKeys: number;
  grantedEvents: number;
}

/** Returns partners with what they may use: their limit, how many keys are open and how many events are granted. */
export async function listPartners(db: Database): Promise<PartnerRow[]> {
  const { rows } = await sql<PartnerRow>`
    select p.id, p.name, p.created_at as "createdAt", p.requests_per_second as "requestsPerSecond",
      (select count(*)::integer from secret_keys k
        where k.partner_id = p.id and k.revoked_at is null and coalesce(k.expires_at > now(), true)) as "openKeys",
      (select count(*)::integer from event_grants g where g.partner_id = p.id) as "grantedEvents"
    from partners p order by p.id`.execute(db);
  return rows;
}
