import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Creates a partner. Names are unique. Without a contact nobody is told when something of its own needs care. */
export async function createPartner(db: Database, name: string, contactEmail: string | null = null) {
  return db
    .insertInto('partners')
    .values({ name, contact_email: contactEmail })
    .returning(['id', 'name', 'contact_email as contactEmail', 'created_at as createdAt'])
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

/** Sets who is told; null: nobody. Returns who was before, undefined where there is no such partner. */
export async function setContact(db: Database, partnerId: number, contactEmail: string | null) {
  const { rows } = await sql<{ contactEmail: string | null }>`
    with previous as (select id, contact_email from partners where id = ${partnerId} for no key update)
    update partners set contact_email = ${contactEmail} from previous
    where partners.id = previous.id
    returning previous.contact_email as "contactEmail"`.execute(db);
  return rows[0];
}

/** Returns partners with their contact and what they may use: their limit and weight, how many keys are open and how many events are granted. */
export async function listPartners(db: Database) {
  interface Row extends Limit {
    id: number;
    name: string;
    contactEmail: string | null;
    createdAt: Date;
    weight: number;
    openKeys: number;
    grantedEvents: number;
  }
  const { rows } = await sql<Row>`
    select p.id, p.name, p.contact_email as "contactEmail", p.created_at as "createdAt",
      p.requests_per_second as "requestsPerSecond", p.weight,
      (select count(*)::integer from secret_keys k
        where k.partner_id = p.id and k.revoked_at is null and coalesce(k.expires_at > now(), true)) as "openKeys",
      (select count(*)::integer from event_grants g where g.partner_id = p.id) as "grantedEvents"
    from partners p order by p.id`.execute(db);
  return rows;
}
