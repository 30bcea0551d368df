import { readAuditLog } from '@floodgate/audit';
import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findByPassReference } from '@floodgate/registrations/list';
import { sql } from 'kysely';
import {
  readAdmissionsOf,
  readMailsOf,
  readRefusedScansOf,
  sentBefore,
  type StoryFact,
} from './story-sources.ts';

/** The kind of the step, for callers that say it in another language than `what`. */
export type StoryKind =
  | 'held'
  | 'sold'
  | 'confirmed'
  /** `code` says why. */
  | 'failed'
  | 'cancelled'
  | 'hold-ended'
  | 'given-away'
  /** `fields` are what changed, without the text. */
  | 'corrected'
  /** Another `action` of the audit log. */
  | 'action'
  | StoryFact['kind'];

/** Something that happened to a seat. */
export interface StoryEntry {
  at: Date;
  kind: StoryKind;
  /** The parts of `what`. */
  facts: Partial<Record<string, string>>;
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
  const facts: StoryFact[] = [];
  for (const stage of stages) {
    const audited = showsAuthors ? await auditEntriesOf(db, stage) : [];
    entries.push(...entriesOf(stage, showsAuthors ? partner : null, audited));
    facts.push(...audited.flatMap(({ mailBefore }) => mailBefore ?? []));
  }
  for (const read of [readMailsOf, readAdmissionsOf, readRefusedScansOf])
    facts.push(...(await read(db, { shardId, eventId, serials })));
  for (const { serial, ...fact } of withoutTwice(facts))
    entries.push({ ...fact, by: null, passReference: referenceOf.get(serial)! });
  return entries.toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

/** Returns facts without those that are there already. An e-mail that waits to be sent again is in two sources. */
const withoutTwice = (facts: readonly StoryFact[]) => [
  ...new Map(facts.map((fact) => [JSON.stringify(fact), fact])).values(),
];

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
function entriesOf(stage: Stage, partner: string | null, audited: readonly Audited[]): StoryEntry[] {
  const { passReference, reservedAt, finishedAt, batch, cancelledAt } = stage;
  const authorOf = (action: string) => audited.find((entry) => entry.action === action)?.by ?? partner;
  const of = { passReference, facts: {} };
  const entries: StoryEntry[] = [
    stage.wasHeld
      ? { ...of, at: reservedAt, kind: 'held', what: 'held for a while', by: partner }
      : { ...of, at: reservedAt, kind: 'sold', what: 'sold', by: partner },
    ...audited
      .filter(({ action }) => !ENDINGS.includes(action))
      .map(({ action: _action, mailBefore: _mailBefore, ...entry }) => ({ ...entry, passReference })),
  ];
  if (finishedAt && batch === 'confirmed')
    entries.push({ ...of, at: finishedAt, kind: 'confirmed', what: 'confirmed', by: null });
  if (finishedAt && batch === 'failed') {
    const facts = { code: stage.failure ?? '' };
    entries.push({
      ...of,
      facts,
      at: finishedAt,
      kind: 'failed',
      what: `failed: ${stage.failure}`,
      by: null,
    });
  }
  return cancelledAt ? [...entries, { ...of, at: cancelledAt, ...endingOf(stage, authorOf) }] : entries;
}

function endingOf(
  { isReplaced, holdEnded }: Stage,
  authorOf: (action: string) => string | null,
): Pick<StoryEntry, 'kind' | 'what' | 'by'> {
  if (isReplaced) {
    const by = authorOf('registration.replace');
    return { kind: 'given-away', what: 'the seat was given to another attendee', by };
  }
  if (holdEnded) return { kind: 'hold-ended', what: 'the hold ended', by: null };
  return { kind: 'cancelled', what: 'cancelled', by: authorOf('registration.cancel') };
}

/** The actions that the end of a registration tells. */
const ENDINGS = ['registration.cancel', 'registration.replace'];

/** An entry of the audit log about a registration. */
type Audited = Omit<StoryEntry, 'passReference'> & {
  action: string;
  /** The e-mail that was sent before it was queued again. */
  mailBefore: StoryFact | undefined;
};

/** Returns what operators and the partner did to a registration, as the audit log has it. */
async function auditEntriesOf(db: Database, { serial }: Stage): Promise<Audited[]> {
  const entries = await readAuditLog(db, { subject: `registration:${serial}`, limit: MOST_AUDIT_ENTRIES });
  return entries.map(({ at, actor: by, action, after }) => ({
    at,
    by,
    action,
    mailBefore: earlierMail(serial, after),
    ...wordsOfAction(action, after),
  }));
}

function earlierMail(serial: number, after: Record<string, unknown> | null | undefined) {
  const { kind, sentBefore: at } = after ?? {};
  return typeof kind === 'string' && typeof at === 'string'
    ? sentBefore(serial, kind, new Date(at))
    : undefined;
}

function wordsOfAction(
  action: string,
  after: Record<string, unknown> | null | undefined,
): Pick<StoryEntry, 'kind' | 'facts' | 'what'> {
  if (action !== 'registration.correct') return { kind: 'action', facts: { action }, what: action };
  const fields = String(after?.['corrected']);
  return { kind: 'corrected', facts: { fields }, what: `corrected: ${fields}` };
}
