import type { Database, Mode } from '@floodgate/database';
import { NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { findEvent } from './events.ts';

/** A partner that may sell an event. */
export interface Seller {
  partnerId: number;
  partner: string;
  /** Null: it is enabled. */
  disabledAt: Date | null;
  /** Its keys of the mode of the event that are neither expired nor revoked. Without one, it cannot sell. */
  openKeys: number;
}

/** An event that a partner may sell. */
export interface SoldEvent {
  eventId: number;
  event: string;
  mode: Mode;
  startsAt: Date | null;
  archivedAt: Date | null;
  /** Keys of the partner that open the event. */
  openKeys: number;
}

/** The number of open keys of a partner `p` that open an event `e`. */
const OPEN_KEYS = sql`(
  select count(*)::integer from secret_keys k
  where k.partner_id = p.id and k.mode = e.mode and k.revoked_at is null and coalesce(k.expires_at > now(), true)
)`;

/** Returns the partners that may sell an event, by name. Throws NotFound if there is no such event. */
export async function listSellers(db: Database, eventId: number) {
  await findEvent(db, eventId);
  const { rows } = await sql<Seller>`
    select p.id as "partnerId", p.name as partner, p.disabled_at as "disabledAt", ${OPEN_KEYS} as "openKeys"
    from event_grants g join partners p on p.id = g.partner_id join events e on e.id = g.event_id
    where g.event_id = ${eventId} order by lower(p.name), p.id`.execute(db);
  return rows;
}

/** Returns the events that a partner may sell, the newest first. Throws NotFound if there is no such partner. */
export async function listSoldEvents(db: Database, partnerId: number) {
  const partner = db.selectFrom('partners').select('id').where('id', '=', partnerId);
  if (!(await partner.executeTakeFirst())) throw new NotFound('no such partner');
  const { rows } = await sql<SoldEvent>`
    select e.id as "eventId", e.name as event, e.mode, e.starts_at as "startsAt", e.archived_at as "archivedAt",
      ${OPEN_KEYS} as "openKeys"
    from event_grants g join partners p on p.id = g.partner_id join events e on e.id = g.event_id
    where g.partner_id = ${partnerId} order by e.id desc`.execute(db);
  return rows;
}

/** Returns how many partners that are not disabled may sell each event. An event that none may sell is missing. */
export async function countSellers(db: Database): Promise<Map<number, number>> {
  const { rows } = await sql<{ eventId: number; sellers: number }>`
    select g.event_id as "eventId", count(*)::integer as sellers
    from event_grants g join partners p on p.id = g.partner_id
    where p.disabled_at is null group by g.event_id`.execute(db);
  return new Map(rows.map(({ eventId, sellers }) => [eventId, sellers]));
}
