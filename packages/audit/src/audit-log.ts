import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import type { Actor } from './actions.ts';

// Two tables. Operators' entries are kept: no role may update or delete them. Partners' entries are kept for
// 90 days, at most 1,000 per partner, because a partner can create any number of them.

/** A change of one thing, without secrets, their hashes or attendees' data. */
export interface Change {
  /** Kind and id, such as "ticket:7". */
  subject: string;
  /** The event of the thing, if the input of the action does not say it. */
  eventId?: number | undefined;
  /** Absent or null if the thing did not exist. */
  before?: object | null;
  after?: object | null;
}

/** A change as it is read. */
interface StoredChange {
  subject: string;
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}

interface StoredEntry extends StoredChange, Record<'actor' | 'action' | 'cursor', string> {
  id: number;
  at: Date;
  /** Null: it belongs to no event. */
  eventId: number | null;
}

/**
 * Inserts one row per change. `db` is the transaction of the changes. `eventId` is that of changes that name
 * none.
 */
export async function insertAuditEntries(
  db: Database,
  actor: Actor,
  action: string,
  changes: Change[],
  eventId?: number,
) {
  if (changes.length === 0) return;
  const isOperator = typeof actor === 'string';
  await sql`
    insert into ${sql.table(isOperator ? 'audit_log' : 'partner_audit_log')} (
      actor, action, event_id, subject, before, after
    )
    select ${isOperator ? actor : `partner:${actor.partnerId}`}, ${action},
      coalesce("eventId", ${eventId ?? null}::integer), subject, before, after
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb)
      as change (subject text, "eventId" integer, before jsonb, after jsonb)`.execute(db);
}

/** A change with its time and author. */
export type AuditEntry = Awaited<ReturnType<typeof readAuditLog>>[number];

interface Selection {
  since?: Date | undefined;
  subject?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  /** Only changes of these events. Undefined: of all, and of what belongs to no event. */
  events?: readonly number[] | undefined;
  /** The cursor of the entry after which the list continues. */
  after?: string | undefined;
  limit: number;
}

/** The time of an entry in microseconds, and its id. Two entries of one transaction have the same time. */
export const CURSOR_PATTERN = '^\\d{1,16}\\.\\d{1,18}$';

/** Returns the condition that an entry is older than that of a cursor. */
function isAfter(cursor: string) {
  const [micros, id] = cursor.split('.');
  return sql`(at, id) < (timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond', ${id}::bigint)`;
}

/**
 * Returns at most `limit` entries, newest first, not older than `since` and of `subject`, `actor`, `action` and
 * `events` if these are given, and older than that of the cursor `after`. The actor is an operator's name or
 * "partner:7". Operators' and partners' entries have separate ids.
 */
export async function readAuditLog(db: Database, selection: Selection) {
  const { since, subject, actor, action, events, after, limit } = selection;
  const from = (table: string) => sql`
    select id, at, actor, action, subject, event_id as "eventId", before, after,
      (extract(epoch from at) * 1000000)::bigint || '.' || id as cursor
    from ${sql.table(table)}
    where ${since === undefined ? sql`true` : sql`at >= ${since}`}
      and ${subject === undefined ? sql`true` : sql`subject = ${subject}`}
      and ${actor === undefined ? sql`true` : sql`actor = ${actor}`}
      and ${action === undefined ? sql`true` : sql`action = ${action}`}
      and ${events === undefined ? sql`true` : sql`event_id = any(${events}::integer[])`}
      and ${after === undefined ? sql`true` : isAfter(after)}
    order by id desc limit ${limit}`;
  const { rows } = await sql<StoredEntry>`
    select * from (
      (${from('audit_log')}) union all (${from('partner_audit_log')})
    ) entry
    order by at desc, id desc limit ${limit}`.execute(db);
  return rows;
}

/** Returns the fields of an entry that differ, each with its value before and after; null: none. */
export function differencesOf({ before, after }: Pick<StoredChange, 'before' | 'after'>) {
  const [was, is] = [before ?? {}, after ?? {}].map((state) => new Map(Object.entries(state)));
  const names = new Set([...was!.keys(), ...is!.keys()]);
  return [...names]
    .map((name) => ({ name, was: was!.get(name) ?? null, is: is!.get(name) ?? null, isNew: !was!.has(name) }))
    .filter((one) => JSON.stringify(one.was) !== JSON.stringify(one.is));
}

const KEPT_DAYS = 90;
const KEPT_PER_PARTNER = 1_000;

/** Deletes partners' entries above the limits of age and number. */
export async function expirePartnerEntries(db: Database) {
  await sql`
    delete from partner_audit_log entry
    using (
      select actor, (array_agg(id order by id desc))[${KEPT_PER_PARTNER}::integer] as oldest_kept
      from partner_audit_log group by actor
    ) kept
    where entry.actor = kept.actor
      and (
        entry.id < kept.oldest_kept or entry.at < now() - make_interval(days => ${KEPT_DAYS}::integer)
      )`.execute(db);
}
