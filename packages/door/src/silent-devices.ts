import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { EventId } from './gates.ts';

const SILENT = sql`interval '5 minutes'`;

/** A device that should be in contact, but was not for five minutes. */
export interface SilentDevice {
  id: number;
  name: string;
  lastContactAt: Date;
}

/**
 * The silent devices `d` of a shard, or of one of its events, as the end of a statement. A gate is open from
 * its opening or the start of its event, until its closing or the end of its event. If one of the two is
 * unknown, also another device of the event must be in contact. The gates of an event are gathered first:
 * compared one by one with each device, they take eight times as long.
 */
export const fromSilentDevices = (shardId: number, eventId: number | null = null) => sql`
  from (
    select g.event_id, array_agg(g.id) as gates
    from gates g join events e on e.id = g.event_id
    where g.shard_id = ${shardId} ${eventId === null ? sql`` : sql`and g.event_id = ${eventId}`}
      and coalesce(g.opens_at, e.starts_at, '-infinity') <= now() - ${SILENT}
      and coalesce(g.closes_at, e.ends_at, 'infinity') > now()
      and (
        coalesce(g.opens_at, e.starts_at) is not null and coalesce(g.closes_at, e.ends_at) is not null
        or g.event_id in (
          select o.event_id from devices o
          where o.shard_id = ${shardId} and o.last_contact_at > now() - ${SILENT}
        )
      )
    group by g.event_id
  ) as open
  join devices d on d.shard_id = ${shardId} and d.event_id = open.event_id and d.gates && open.gates
  -- A lost device is revoked, too.
  where d.public_key is not null and d.revoked_at is null and d.signed_off_at is null
    and d.last_contact_at <= now() - ${SILENT}`;

/** Returns the silent devices of an event. */
export async function listSilentDevices(db: Database, { shardId, id }: EventId): Promise<SilentDevice[]> {
  const { rows } = await sql<SilentDevice>`
    select d.id, d.name, d.last_contact_at as "lastContactAt"
    ${fromSilentDevices(shardId, id)}
    order by d.id`.execute(db);
  return rows;
}
