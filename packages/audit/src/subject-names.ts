import { formatPassReference } from '@floodgate/contract';
import { askShards, shardIds, textArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';

/** A subject of the audit log, as people know it. */
export interface NamedSubject {
  /** Kind and id, as in the log: "ticket:7". */
  subject: string;
  /** Of a key and of a webhook: the name of its partner. Of a registration: its pass reference. */
  name: string;
  /** The event that it belongs to. */
  eventId: number | null;
  /** The partner of a key or webhook. */
  partnerId: number | null;
}

/**
 * Returns the subjects that exist, each once. Names of attendees are not among them, but pass references open
 * the door. Those in shards that do not answer are missing.
 */
export async function nameSubjects(db: Database, subjects: readonly string[]): Promise<NamedSubject[]> {
  const idsOf = idsByKind(subjects);
  const [central, inShards] = await Promise.all([nameCentral(db, idsOf), nameInShards(db, idsOf)]);
  return [...central, ...inShards];
}

/** Returns a function that returns the ids of a kind. */
function idsByKind(subjects: readonly string[]) {
  const ids = new Map<string, string[]>();
  for (const subject of new Set(subjects)) {
    const [, kind, id] = /^([a-z-]+):(.+)$/s.exec(subject) ?? [];
    if (kind && id) ids.getOrInsertComputed(kind, () => []).push(id);
  }
  return (kind: string) => ids.get(kind) ?? [];
}

type IdsOf = ReturnType<typeof idsByKind>;

const INT4_MAX = 2_147_483_647;

/** Returns SQL for ids that are numbers. Others name nothing. */
const numbers = (ids: readonly string[]) => {
  const known = ids.map(Number).filter((id) => Number.isInteger(id) && id >= 0 && id <= INT4_MAX);
  return sql`${known}::integer[]`;
};

/** Returns SQL for ids that are UUIDs. Others name nothing. */
const uuids = (ids: readonly string[]) =>
  sql`${textArray(ids.filter((id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)))}::uuid[]`;

async function nameCentral(db: Database, idsOf: IdsOf): Promise<NamedSubject[]> {
  const kinds = ['event', 'partner', 'operator', 'key', 'access'];
  if (kinds.every((kind) => idsOf(kind).length === 0)) return [];
  const { rows } = await sql<NamedSubject>`
    select 'event:' || id as subject, name, id as "eventId", null::integer as "partnerId"
    from events where id = any(${numbers(idsOf('event'))})
    union all
    select 'partner:' || id, name, null, id from partners where id = any(${numbers(idsOf('partner'))})
    union all
    select 'operator:' || id, name, null, null from operators where id = any(${numbers(idsOf('operator'))})
    union all
    select 'key:' || key_id, p.name, null, p.id
    from secret_keys k join partners p on p.id = k.partner_id
    where key_id = any(${textArray(idsOf('key'))}::text[])
    union all
    select 'access:' || a.id, coalesce(o.name, a.name), null, null
    from operator_access a left join operators o on o.id = a.operator_id
    where a.id = any(${textArray(idsOf('access'))}::text[])`.execute(db);
  return rows;
}

async function nameInShards(db: Database, idsOf: IdsOf): Promise<NamedSubject[]> {
  const kinds = ['ticket', 'gate', 'device', 'job', 'webhook', 'registration'];
  if (kinds.every((kind) => idsOf(kind).length === 0)) return [];
  const { answers } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await sql<NamedSubject>`
      select 'ticket:' || id as subject, title as name, event_id as "eventId", null::integer as "partnerId"
      from tickets where shard_id = ${shardId} and id = any(${numbers(idsOf('ticket'))})
      union all
      select 'gate:' || id, name, event_id, null
      from gates where shard_id = ${shardId} and id = any(${numbers(idsOf('gate'))})
      union all
      select 'device:' || id, name, event_id, null
      from devices where shard_id = ${shardId} and id = any(${numbers(idsOf('device'))})
      union all
      select 'job:' || id, kind, event_id, null
      from jobs where shard_id = ${shardId} and id = any(${uuids(idsOf('job'))})
      union all
      select 'webhook:' || w.id, p.name, w.event_id, p.id
      from webhook_endpoints w join partners p on p.id = w.partner_id
      where w.shard_id = ${shardId} and w.id = any(${uuids(idsOf('webhook'))})`.execute(db);
    return [...rows, ...(await nameRegistrations(db, shardId, idsOf('registration')))];
  });
  return answers.flat();
}

async function nameRegistrations(db: Database, shardId: number, serials: readonly string[]) {
  const known = serials.filter((serial) => /^\d{1,18}$/.test(serial));
  if (known.length === 0) return [];
  const { rows } = await sql<{ serial: number; eventId: number; passCode: number; prefix: string }>`
    select r.serial, r.event_id as "eventId", r.pass_code as "passCode", e.pass_prefix as prefix
    from registrations r join events e on e.id = r.event_id
    where r.shard_id = ${shardId} and r.serial = any(${textArray(known)}::bigint[])`.execute(db);
  return rows.map((row): NamedSubject => {
    const name = formatPassReference(row);
    return { subject: `registration:${row.serial}`, name, eventId: row.eventId, partnerId: null };
  });
}
