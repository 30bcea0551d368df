import { createHash, randomUUID } from 'node:crypto';
import { insertAuditEntries } from '@floodgate/audit';
import { formatPassReference, maskPassCodes } from '@floodgate/contract';
import {
  askShards,
  awayText,
  inCamelCase,
  inTransaction,
  shardIds,
  textArray,
  type Database,
  type JobState,
} from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { Failure, NotFound } from '@floodgate/service/failure';
import { sql } from 'kysely';

/*
 * A job treats many things of one event, in batches. Its items are stored when it starts, so it acts only on
 * what was previewed. Its row goes through these states:
 *
 *             pause                 no item is left
 *   paused ◀─────────── running ──────────────────▶ done
 *     │ ────────────────▶ │
 *     │       resume      │ abort
 *     └────── abort ──────┴───────────────────────▶ aborted
 */

const COLUMNS = [
  'id',
  'shardId',
  'kind',
  'eventId',
  'filter',
  'settings',
  'state',
  'total',
  'done',
  'failed',
  'cameSince',
  'result',
  'problem',
  'createdBy',
  'createdAt',
  'startedAt',
  'endedAt',
] as const;

export type JobKind = 'cancel' | 'call-off' | 'resend';

/** A job as operators see it. */
export interface Job {
  id: string;
  shardId: number;
  kind: string;
  eventId: number;
  /** The selection. Fields about people are left out. */
  filter: unknown;
  settings: unknown;
  state: JobState;
  total: number;
  done: number;
  failed: number;
  cameSince: number;
  result: unknown;
  /** Why the last batch failed; null: it did not. */
  problem: string | null;
  createdBy: string;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
}

/** A job to start. */
export interface NewJob {
  /** The caller's own id, so that a call that is sent again starts nothing twice. */
  id?: string | undefined;
  kind: JobKind;
  shardId: number;
  eventId: number;
  /** The whole filter. It identifies the work. */
  filter: object;
  /** The filter without what it says about people. */
  shownFilter: object;
  settings?: object;
  result?: object;
  /** It can start without items: it has done its work by starting, and can get items later. */
  mayBeEmpty?: boolean;
}

/** The items of a new job. */
export interface JobItems {
  items: readonly (string | number)[];
  cameSince: number;
}

/** A job, and whether this call has started it. */
export interface StartedJob extends Job {
  isNew: boolean;
}

/** Items of one part. */
const ITEMS_PER_PART = 1_000;
/** Parts that one statement inserts. */
const PARTS_PER_STATEMENT = 100;

const selectJobs = (db: Database) => inCamelCase(db).selectFrom('jobs').select(COLUMNS);

const digestOf = ({ kind, filter, settings = {} }: NewJob) =>
  createHash('sha256')
    .update(JSON.stringify([kind, filter, settings]))
    .digest('hex');

/**
 * Starts a job, unless it was started before: with the same id, or as the same work that has not ended.
 * `select` returns the items. It throws Failure if they are not those that were previewed. One row of the
 * audit log names the filter.
 */
export async function startJob(db: Database, job: NewJob, actor: string, select: () => Promise<JobItems>) {
  const digest = digestOf(job);
  const before = await findStarted(db, job, digest);
  if (before) return { ...before, isNew: false };
  const { items, cameSince } = await select();
  if (items.length === 0 && !job.mayBeEmpty)
    throw new Failure('nothing meets the filter, so there is nothing to do');
  const id = job.id ?? randomUUID();
  const isNew = await inTransaction(db, async (transaction) => {
    const row = { ...job, id, digest, cameSince, total: items.length, createdBy: actor };
    if (!(await insertJob(transaction, row))) return false;
    await insertParts(transaction, { ...job, id }, items);
    const after = { kind: job.kind, ...job.shownFilter, ...job.settings, total: items.length, cameSince };
    await insertAuditEntries(transaction, actor, 'job.start', [{ subject: `job:${id}`, after }]);
    return true;
  });
  const started = await findStarted(db, { ...job, id }, digest);
  if (!started) throw new Failure('another job of the same kind has just ended; repeat the preview');
  return { ...started, isNew };
}

async function insertJob(
  db: Database,
  row: NewJob & { id: string; digest: string; cameSince: number; total: number; createdBy: string },
) {
  const { numInsertedOrUpdatedRows } = await inCamelCase(db)
    .insertInto('jobs')
    .values({
      shardId: row.shardId,
      id: row.id,
      kind: row.kind,
      eventId: row.eventId,
      filter: JSON.stringify(row.shownFilter),
      settings: JSON.stringify(row.settings ?? {}),
      digest: row.digest,
      total: row.total,
      cameSince: row.cameSince,
      result: row.result === undefined ? null : JSON.stringify(row.result),
      createdBy: row.createdBy,
    })
    // Somebody else has started the same work meanwhile.
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

async function insertParts(
  db: Database,
  { shardId, id }: { shardId: number; id: string },
  items: readonly (string | number)[],
) {
  const parts = Array.from({ length: Math.ceil(items.length / ITEMS_PER_PART) }, (_, index) => {
    const slice = items.slice(index * ITEMS_PER_PART, (index + 1) * ITEMS_PER_PART);
    return sql`(${shardId}::integer, ${id}::uuid, ${index + 1}::integer, ${textArray(slice.map(String))}::text[])`;
  });
  for (let first = 0; first < parts.length; first += PARTS_PER_STATEMENT)
    await sql`
      insert into job_parts (shard_id, job_id, part, items)
      values ${sql.join(parts.slice(first, first + PARTS_PER_STATEMENT))}`.execute(db);
}

/** Returns the job with the same id, or the same work that has not ended. */
async function findStarted(db: Database, { id, shardId, eventId, kind }: NewJob, digest: string) {
  const query = selectJobs(db).select('digest').where('shardId', '=', shardId);
  const byId = id && (await query.where('id', '=', id).executeTakeFirst());
  if (byId && byId.digest !== digest) throw new Failure('another job has this id');
  const open = query.where((where) => where.and({ eventId, kind, digest })).where('endedAt', 'is', null);
  const found = byId || (await open.executeTakeFirst());
  if (!found) return undefined;
  const { digest: _digest, ...job } = found;
  return job;
}

/** Returns the job of a kind and event that has not ended. */
export const findOpenJob = (
  db: Database,
  shardId: number,
  eventId: number,
  kind: JobKind,
): Promise<Job | undefined> =>
  selectJobs(db)
    .where((where) => where.and({ shardId, eventId, kind }))
    .where('endedAt', 'is', null)
    .executeTakeFirst();

/** Returns a job. Throws NotFound if there is none. */
export async function findJob(db: Database, id: string): Promise<Job> {
  const { answers, away } = await askShards(await shardIds(db), (shardId) =>
    selectJobs(db)
      .where((where) => where.and({ shardId, id }))
      .executeTakeFirst(),
  );
  const found = answers.find((answer) => answer !== undefined);
  if (!found) throw new NotFound(away.length > 0 ? `no such job, but ${awayText(away)}` : 'no such job');
  return found;
}

/** Returns the event of a job. Undefined: there is no such job. */
export async function findEventOfJob(db: Database, id: string): Promise<number | undefined> {
  return (await findJob(db, id).catch(undefinedIfMissing))?.eventId;
}

function undefinedIfMissing(error: unknown) {
  if (error instanceof NotFound) return undefined;
  throw error;
}

/** Returns the jobs of these events, or of all, newest first, and the shards that do not answer. */
export async function listJobs(db: Database, events: readonly number[] | undefined, limit: number) {
  const shards = events === undefined ? await shardIds(db) : await shardsOf(db, events);
  const { answers, away } = await askShards(shards, (shardId) => {
    const jobs = selectJobs(db).where('shardId', '=', shardId).orderBy('createdAt', 'desc').limit(limit);
    return (events === undefined ? jobs : jobs.where('eventId', 'in', events)).execute();
  });
  const jobs = answers.flat().toSorted((one, other) => +other.createdAt - +one.createdAt);
  return { jobs: jobs.slice(0, limit), away };
}

async function shardsOf(db: Database, events: readonly number[]) {
  const found = await Promise.all(events.map((eventId) => findEvent(db, eventId)));
  return [...new Set(found.map(({ shardId }) => shardId))];
}

/** An item that could not be done. */
export interface FailedItem {
  /** The pass reference, without its code. */
  item: string;
  reason: string;
  at: Date;
}

/** Returns items of a job that could not be done, in order, after an item. */
export async function listFailures(db: Database, job: Job, after: number, limit: number) {
  const { passPrefix: prefix } = await findEvent(db, job.eventId);
  const { rows } = await sql<{ serial: number; reason: string; at: Date }>`
    select item::bigint as serial, reason, at from job_failures
    where shard_id = ${job.shardId} and job_id = ${job.id} and item::bigint > ${after}
    order by item::bigint limit ${limit}`.execute(db);
  const named = (serial: number) =>
    maskPassCodes(formatPassReference({ prefix, eventId: job.eventId, serial, passCode: 1_000_000_000 }));
  const failures = rows.map(({ serial, ...rest }): FailedItem => ({ item: named(serial), ...rest }));
  return { failures, cursor: rows.at(-1)?.serial ?? after, more: rows.length === limit };
}

/** Changes the state of a job that has one of these states, in a transaction. Throws Failure otherwise. */
export async function changeState(db: Database, job: Job, from: readonly JobState[], to: JobState) {
  const { id, shardId } = job;
  const isEnd = to === 'aborted';
  const { numUpdatedRows } = await inCamelCase(db)
    .updateTable('jobs')
    .set({ state: to, nextAt: sql<Date>`now()`, ...(isEnd && { endedAt: sql<Date>`now()` }) })
    .where((where) => where.and({ shardId, id }))
    .where('state', 'in', from)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw new Failure(`the job is ${(await findJob(db, id)).state}`);
  if (isEnd) await sql`delete from job_parts where shard_id = ${shardId} and job_id = ${id}`.execute(db);
}
