import { sql } from 'kysely';
import type { Database } from './connect.ts';
import type { DuplicatePolicy } from './schema.ts';

/** What a key id and an event reference stand for. */
export interface AccessRow {
  keyId: string;
  secretHash: Buffer;
  partnerId: number;
  /** The partner's limit; null where it has none. */
  requestsPerSecond: number | null;
  /** Revoked or expired, by Postgres's clock. */
  closed: boolean;
  /** The last use is not yet noted for this hour. */
  useIsUnnoted: boolean;
  /** The event, where the reference names one that is granted to the key's partner. */
  eventId: number | null;
  passPrefix: string | null;
  duplicatePolicy: DuplicatePolicy | null;
}

/** Finds a key by its id, with the event if that was granted to the key's partner. `eventRef` is a UUID or null. */
export async function findAccess(
  db: Database,
  keyId: string,
  eventRef: string | null,
): Promise<AccessRow | undefined> {
  const { rows } = await sql<AccessRow>`
    select k.key_id as "keyId", k.secret_hash as "secretHash", k.partner_id as "partnerId",
      p.requests_per_second as "requestsPerSecond",
      k.revoked_at is not null or coalesce(k.expires_at <= now(), false) as closed,
      coalesce(k.last_used_at < date_trunc('hour', now()), true) as "useIsUnnoted",
      e.id as "eventId", e.pass_prefix as "passPrefix", e.duplicate_policy as "duplicatePolicy"
    from secret_keys k
    join partners p on p.id = k.partner_id
    left join (event_grants g join events e on e.id = g.event_id and e.ref = ${eventRef}::uuid)
      on g.partner_id = k.partner_id
    where k.key_id = ${keyId}`.execute(db);
  return rows[0];
}

/** Notes that a key is in use, to the hour: one write per key and hour, whatever the traffic. */
export async function noteKeyUse(db: Database, keyId: string): Promise<void> {
  await sql`
    update secret_keys set last_used_at = date_trunc('hour', now())
    where key_id = ${keyId} and coalesce(last_used_at < date_trunc('hour', now()), true)`.execute(db);
}
