import { readAuditLog } from '@floodgate/audit';
import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findByPassReference } from '@floodgate/registrations/list';
import { sql } from 'kysely';
import { readAdmissionsOf, readMailsOf, readRefusedScansOf } from './story-sources.ts';

/** Something that happened to a seat. */
export interface StoryEntry {
  at: Date;
  /** In words, without attendees' data. */
  what: string;
  /** The operator or the partner. Null: the service, or the caller may not see it. */
  by: string | null;
  passReference: string;
}

/** A registration of the seat. */
interface Stage {
  serial: number;
  passReference: string;
  reservedAt: Date;
  wasHeld: boolean;
  holdEnded: boolean;
  finishedAt: Date | null;
  batch: 'pending' | 'confirmed' | 'failed';
  failure: string | null;
  cancelledAt: Date | null;
  isReplaced: boolean;
}

const MOST_AUDIT_ENTRIES = 200;

/**
 * Returns the whole story of a registration in order: sold, e-mailed, let in at the door, changed and
 * cancelled, and by whom. It covers all registrations of the seat, so also those before and after a change of
 * the attendee. Throws NotFound if there is no such registration.
 */
export async function readStory(db: Database, passReference: string, showsAuthors: boolean) {
  const { row, partnerId, shardId } = await findByPassReference(db, passReference);
  const { eventId, passPrefix } = row;
  const stages = await readStages(db, { shardId, eventId, passPrefix, serial: row.serial });
  const partner = await nameOf(db, partnerId);
  const referenceOf = new Map(stages.map((stage) => [stage.serial, stage.passReference]));
  const serials = [...referenceOf.keys()];
  const entries: StoryEntry[] = [];
  for (const stage of stages) entries.push(...(await entriesOf(db, stage, showsAuthors ? partner : null)));
  for (const read of [readMailsOf, readAdmissionsOf, readRefusedScansOf])
    for (const { serial, at, what } of await read(db, { shardId, eventId, serials }))
      entries.push({ at, what, by: null, passReference: referenceOf.get(serial)! });
  return entries.toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

async function nameOf(db: Database, partnerId: number) {
  const found = db.selectFrom('partners').select('name').where('id', '=', partnerId);
  return (await found.executeTakeFirstOrThrow()).name;
}

/** Returns all registrations of a seat, the first one first. A later one can have a lower serial on Citus. */
async function readStages(
  db: Database,
  of: { shardId: number; eventId: number; passPrefix: string; serial: number },
): Promise<Stage[]> {
  const { shardId, eventId, passPrefix: prefix, serial } = of;
  const { rows } = await sql<Omit<Stage, 'passReference'> & { passCode: number }>`
    with recursive stages (serial, nth) as (
      select coalesce(seat, serial), 1 from registrations where shard_id = ${shardId} and serial = ${serial}
      union all
      select r.replaced_by, nth + 1
      from stages s join registrations r on r.shard_id = ${shardId} and r.serial = s.serial
      where r.replaced_by is not null
    )
    select r.serial, r.pass_code as "passCode", r.reserved_at as "reservedAt", r.held_until is not null as "wasHeld",
      coalesce(r.held_until < 'infinity' and r.cancelled_at is not null, false) as "holdEnded",
      b.finished_at as "finishedAt", b.state as batch, b.failure, r.cancelled_at as "cancelledAt",
      r.replaced_by is not null as "isReplaced"
    from stages s
    join registrations r on r.shard_id = ${shardId} and r.serial = s.serial
    join batches b on b.shard_id = ${shardId} and b.id = r.batch_id
    order by s.nth`.execute(db);
  return rows.map(({ passCode, ...stage }) => ({
    ...stage,
    passReference: formatPassReference({ prefix, eventId, serial: stage.serial, passCode }),
  }));
}

/** Returns what happened to one registration of the seat. `partner` null: authors are not shown. */
async function entriesOf(db: Database, stage: Stage, partner: string | null): Promise<StoryEntry[]> {
  const { passReference, reservedAt, finishedAt, batch, cancelledAt } = stage;
  const audited = partner === null ? [] : await auditEntriesOf(db, stage);
  const authorOf = (action: string) => audited.find((entry) => entry.action === action)?.by ?? partner;
  const entries: StoryEntry[] = [
    { at: reservedAt, what: stage.wasHeld ? 'held for a while' : 'sold', by: partner, passReference },
    ...audited
      .filter(({ action }) => !ENDINGS.includes(action))
      .map(({ at, what, by }) => ({ at, what, by, passReference })),
  ];
  if (finishedAt && batch === 'confirmed')
    entries.push({ at: finishedAt, what: 'confirmed', by: null, passReference });
  if (finishedAt && batch === 'failed')
    entries.push({ at: finishedAt, what: `failed: ${stage.failure}`, by: null, passReference });
  if (!cancelledAt) return entries;
  const [what, by] = stage.isReplaced
    ? ['the seat was given to another attendee', authorOf('registration.replace')]
    : stage.holdEnded
      ? ['the hold ended', null]
      : ['cancelled', authorOf('registration.cancel')];
  return [...entries, { at: cancelledAt, what, by, passReference }];
}

/** The actions that the end of a registration tells. */
const ENDINGS = ['registration.cancel', 'registration.replace'];

/** Returns what operators and the partner did to a registration, as the audit log has it. */
async function auditEntriesOf(db: Database, { serial, passReference }: Stage) {
  const entries = await readAuditLog(db, { subject: `registration:${serial}`, limit: MOST_AUDIT_ENTRIES });
  return entries.map(({ at, actor, action, after }) => ({
    at,
    action,
    what: action === 'registration.correct' ? `corrected: ${String(after?.['corrected'])}` : action,
    by: actor,
    passReference,
  }));
}
