import { sql } from 'kysely';
import type { Database } from './connect.ts';

export interface Partner {
  id: number;
  name: string;
  createdAt: Date;
}

/** Creates a partner. Names are unique. */
export async function createPartner(db: Database, name: string): Promise<Partner> {
  return db
    .insertInto('partners')
    .values({ name })
    .returning(['id', 'name', 'created_at as createdAt'])
    .executeTakeFirstOrThrow();
}

/** Partners with what they may use: how many keys are open and how many events are granted. */
export async function listPartners(
  db: Database,
): Promise<(Partner & { openKeys: number; grantedEvents: number })[]> {
  const { rows } = await sql<Partner & { openKeys: number; grantedEvents: number }>`
    select p.id, p.name, p.created_at as "createdAt",
      (select count(*)::integer from secret_keys k
        where k.partner_id = p.id and k.revoked_at is null and coalesce(k.expires_at > now(), true)) as "openKeys",
      (select count(*)::integer from event_grants g where g.partner_id = p.id) as "grantedEvents"
    from partners p order by p.id`.execute(db);
  return rows;
}
