import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Creates a partner. Names are unique. */
export async function createPartner(db: Database, name: string) {
  return db
    .insertInto('partners')
    .values({ name })
    .returning(['id', 'name', 'created_at as createdAt'])
    .executeTakeFirstOrThrow();
}

/** Null: no limit. */
type Limit = { requestsPerSecond: number | null };

/**
 * Limits a partner's requests, over all processes; null lifts the limit. Returns the limit before, undefined where there is
 * no such partner.
 */
export async function limitPartner(db: Database, partnerId: number, requestsPerSecond: number | null) {
  const { rows } = await sql<Limit>`
    with previous as (select id, requests_per_second from partners where id = ${partnerId} for no key update)
    update partners set requests_per_second = ${requestsPerSecond} from previous
    where partners.id = previous.id
    returning previous.requests_per_second as "requestsPerSecond"`.execute(db);
  return rows[0];
}

/**
 * Gives a partner a weight, its share where partners compete. Returns the weight before, undefined where there is no such
 * partner.
 */
export async function weighPartner(db: Database, partnerId: number, weight: number) {
  const { rows } = await sql<{ weight: number }>`
    with previous as (select id, weight from partners where id = ${partnerId} for no key update)
    update partners set weight = ${weight} from previous
    where partners.id = previous.id
    returning previous.weight`.execute(db);
  return rows[0];
}

/** Returns partners with what they may use: their limit and weight, how many keys are open and how many events are granted. */
export async function listPartners(db: Database) {
  interface Row extends Limit {
    id: number;
    name: string;
    createdAt: Date;
    weight: number;
    openKeys: number;
    grantedEvents: number;
  }
  const { rows } = await sql<Row>`
    select p.id, p.name, p.created_at as "createdAt", p.requests_per_second as "requestsPerSecond", p.weight,
      (select count(*)::integer from secret_keys k
        where k.partner_id = p.id and k.revoked_at is null and coalesce(k.expires_at > now(), true)) as "openKeys",
      (select count(*)::integer from event_grants g where g.partner_id = p.id) as "grantedEvents"
    from partners p order by p.id`.execute(db);
  return rows;
}
