import { sql } from 'kysely';
import { plainArray, type Database, type DuplicatePolicy } from '@floodgate/database';

/** What a caller names: a key by its id (hex), and an event by its reference, a UUID or null. */
export interface AccessQuery {
  keyId: string;
  eventRef: string | null;
}

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

/**
 * Finds keys by their ids, each with its event if that was granted to the key's partner. Resolves to one row per query, in
 * order, undefined where there is no such key.
 */
export async function findAccess(
  db: Database,
  queries: readonly AccessQuery[],
): Promise<(AccessRow | undefined)[]> {
  const { rows } = await sql<AccessRow & { position: number }>`
    select query.position, k.key_id as "keyId", k.secret_hash as "secretHash", k.partner_id as "partnerId",
      p.requests_per_second as "requestsPerSecond",
      k.revoked_at is not null or coalesce(k.expires_at <= now(), false) as closed,
      coalesce(k.last_used_at < date_trunc('hour', now()), true) as "useIsUnnoted",
      e.id as "eventId", e.pass_prefix as "passPrefix", e.duplicate_policy as "duplicatePolicy"
    from unnest(
      ${plainArray(queries.map(({ keyId }) => keyId))}::text[],
      ${plainArray(queries.map(({ eventRef }) => eventRef))}::uuid[]
    ) with ordinality as query (key_id, event_ref, position)
    join secret_keys k on k.key_id = query.key_id
    join partners p on p.id = k.partner_id
    left join (event_grants g join events e on e.id = g.event_id)
      on g.partner_id = k.partner_id and e.ref = query.event_ref`.execute(db);
  const found = new Map(rows.map((row) => [row.position, row]));
  return queries.map((_, index) => found.get(index + 1));
}

/**
 * Notes that keys are in use, to the hour: one write per key and hour, whatever the traffic. A key that somebody else is
 * just changing is left for the next time.
 */
export async function noteKeyUse(db: Database, keyIds: readonly string[]): Promise<void> {
  await sql`
    update secret_keys set last_used_at = date_trunc('hour', now())
    where key_id in (
      select key_id from secret_keys
      where key_id = any(${plainArray(keyIds)}::text[])
        and coalesce(last_used_at < date_trunc('hour', now()), true)
      for no key update skip locked
    )`.execute(db);
}
