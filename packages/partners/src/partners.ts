import { sql } from 'kysely';
import { HOUSE_PARTNER_ID, inCamelCase, type Database } from '@floodgate/database';
import { Failure, NotFound } from '@floodgate/service/failure';

/** Creates a partner. Names are unique. Without a contact, notices about its webhooks are sent to nobody. */
export async function createPartner(db: Database, name: string, contactEmail: string | null = null) {
  return inCamelCase(db)
    .insertInto('partners')
    .values({ name, contactEmail })
    .returning(['id', 'name', 'contactEmail', 'createdAt'])
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
    if (!rows[0]) throw new NotFound('no such partner');
    return rows[0].before;
  };

/** Limits a partner's requests per second, over all processes; null removes the limit. */
export const limitPartner = replaceValue<number | null>('requests_per_second');

/** Sets a partner's weight, its share if partners compete for seats. */
export const weighPartner = replaceValue<number>('weight');

/** Sets a partner's contact; null removes it. */
export const setContact = replaceValue<string | null>('contact_email');

/**
 * Disables a partner, or enables it again. Returns whether it was disabled. Throws Failure if there is no
 * such partner, or if it is the house partner.
 */
export async function disablePartner(db: Database, partnerId: number, disabled: boolean) {
  if (disabled && partnerId === HOUSE_PARTNER_ID)
    throw new Failure("this partner registers the operator's own guests, so it cannot be disabled");
  const { disabled_at: before } = await db
    .selectFrom('partners')
    .select('disabled_at')
    .where('id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => new NotFound('no such partner'));
  const change = db.updateTable('partners').where('id', '=', partnerId);
  if ((before !== null) !== disabled)
    await change.set({ disabled_at: disabled ? sql<Date>`now()` : null }).execute();
  return before !== null;
}

/** A partner as operators see it. */
export type ListedPartner = Awaited<ReturnType<typeof listPartners>>[number];

/**
 * Returns partners with their contact, limit, weight, number of open keys and number of granted events. The
 * house partner is marked, and comes last.
 */
export async function listPartners(db: Database) {
  return inCamelCase(db)
    .selectFrom('partners')
    .select([
      'id',
      'name',
      'contactEmail',
      'requestsPerSecond',
      'weight',
      sql<boolean>`id = ${sql.lit(HOUSE_PARTNER_ID)}`.as('isHouse'),
      sql<number>`(select count(*)::integer from secret_keys where partner_id = partners.id
        and revoked_at is null and coalesce(expires_at > now(), true))`.as('openKeys'),
      sql<number>`(select count(*)::integer from event_grants where partner_id = partners.id)`.as(
        'grantedEvents',
      ),
      'createdAt',
      'disabledAt',
    ])
    .orderBy('id')
    .execute();
}
