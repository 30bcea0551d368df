import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';

/** Creates a partner. Names are unique. Without a contact nobody gets notices about its webhooks. */
export async function createPartner(db: Database, name: string, contactEmail: string | null = null) {
  return db
    .insertInto('partners')
    .values({ name, contact_email: contactEmail })
    .returning(['id', 'name', 'contact_email as contactEmail', 'created_at as createdAt'])
    .executeTakeFirstOrThrow();
}

/** Sets one column of a partner. Returns the previous value. Throws Failure if there is no such partner. */
const replaceValue =
  <Value extends string | number | null>(column: 'requests_per_second' | 'weight' | 'contact_email') =>
  async (db: Database, partnerId: number, value: Value): Promise<Value> => {
    const { rows } = await sql<{ before: Value }>`
      with previous as (
        select id, ${sql.ref(column)} as before from partners where id = ${partnerId} for no key update
      )
      update partners set ${sql.ref(column)} = ${value} from previous
      where partners.id = previous.id
      returning previous.before`.execute(db);
    if (!rows[0]) throw new Failure('no such partner');
    return rows[0].before;
  };

/** Limits a partner's requests per second, over all processes; null removes the limit. */
export const limitPartner = replaceValue<number | null>('requests_per_second');

/** Sets a partner's weight, its share where partners compete. */
export const weighPartner = replaceValue<number>('weight');

/** Sets the contact; null removes it. */
export const setContact = replaceValue<string | null>('contact_email');

/** Returns partners with their contact and what they may use: their limit and weight, how many keys are open and how many events are granted. */
export async function listPartners(db: Database) {
  return db
    .selectFrom('partners as p')
    .select([
      'p.id',
      'p.name',
      'p.contact_email as contactEmail',
      'p.requests_per_second as requestsPerSecond',
      'p.weight',
      sql<number>`(select count(*)::integer from secret_keys k where k.partner_id = p.id
        and k.revoked_at is null and coalesce(k.expires_at > now(), true))`.as('openKeys'),
      sql<number>`(select count(*)::integer from event_grants g where g.partner_id = p.id)`.as(
        'grantedEvents',
      ),
      'p.created_at as createdAt',
    ])
    .orderBy('p.id')
    .execute();
}
