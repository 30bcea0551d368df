import { randomUUID } from 'node:crypto';
import { textArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';

/** A job while this process holds its lease. */
export interface LeasedJob {
  shardId: number;
  id: string;
  kind: string;
  eventId: number;
  createdBy: string;
  lease: string;
}

/** How long the job of a killed process stays leased. Longer than a batch and the wait after it. */
export const JOB_LEASE_SECONDS = 5;

/** Leases the running job of a shard that has waited longest. Undefined: none is due. */
export async function leaseJob(db: Database, shardId: number, leaseSeconds = JOB_LEASE_SECONDS) {
  const { rows } = await sql<LeasedJob>`
    update jobs set lease = ${randomUUID()}, leased_until = now() + make_interval(secs => ${leaseSeconds})
    where shard_id = ${shardId} and id = any(array(
      select id from jobs
      where shard_id = ${shardId} and state = 'running' and next_at <= now()
        and (leased_until is null or leased_until <= now())
      order by next_at limit 1 for update skip locked
    ))
    returning shard_id as "shardId", id, kind, event_id as "eventId", created_by as "createdBy", lease`.execute(
    db,
  );
  const job = rows[0];
  // Alone, because Citus accepts no now() inside a case.
  if (job)
    await sql`
      update jobs set started_at = now() where ${isLeased(job)} and started_at is null`.execute(db);
  return job;
}

const isLeased = ({ shardId, id, lease }: LeasedJob) =>
  sql`shard_id = ${shardId} and id = ${id} and lease = ${lease}`;

/** Releases a job, so that it is leased again after the delay. `problem`: why its batch failed. */
export async function releaseJob(db: Database, job: LeasedJob, delayMs = 0, problem: string | null = null) {
  await sql`
    update jobs set lease = null, leased_until = null, problem = ${problem},
      next_at = now() + make_interval(secs => ${delayMs / 1_000})
    where ${isLeased(job)}`.execute(db);
}

export interface BatchResult {
  state: 'more' | 'end' | 'lost';
  treated: number;
  /** How long Postgres worked on it, without the commit. */
  tookMs: number;
}

/** Limits of one batch. */
export interface BatchOptions {
  size: number;
  leaseSeconds: number;
  /** Limit of each wait for a lock. */
  lockWithinMs: number;
  /** Do nothing, and record that these items could not be done for this reason. */
  skipReason?: string | null;
}

/** Treats the next items of a job, in one transaction with their outcomes and the cursor. */
export async function runBatch(
  db: Database,
  { shardId, id, lease }: LeasedJob,
  { size, leaseSeconds, lockWithinMs, skipReason = null }: BatchOptions,
) {
  const { rows } = await sql<{ result: BatchResult }>`
    select run_job_batch(${shardId}::integer, ${id}::uuid, ${lease}::uuid, ${leaseSeconds}::integer, ${size}::integer,
      ${lockWithinMs}::integer, ${skipReason}::text) as result`.execute(db);
  return rows[0]!.result;
}

/** Adds items to a job that has treated all it had. Returns false if the lease was lost. */
export async function addItems(db: Database, job: LeasedJob, serials: readonly number[]) {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ part: number }>`
      update jobs set total = total + ${serials.length} where ${isLeased(job)} and state = 'running'
      returning part`.execute(transaction);
    if (!rows[0]) return false;
    await sql`
      insert into job_parts (shard_id, job_id, part, items)
      values (${job.shardId}, ${job.id}, ${rows[0].part}, ${textArray(serials.map(String))}::text[])`.execute(
      transaction,
    );
    return true;
  });
}

/** Ends a job that has treated all items. The audit log gets one row, also if this is repeated after a crash. */
export async function endJob(db: Database, job: LeasedJob) {
  const { rows } = await sql<{ done: number; failed: number; total: number }>`
    select done, failed, total from jobs where ${isLeased(job)} and state = 'running'`.execute(db);
  if (!rows[0]) return;
  const subject = `job:${job.id}`;
  const after = JSON.stringify({ state: 'done', ...rows[0] });
  // First, because only the lease holder of a running job comes here.
  await sql`
    insert into audit_log (actor, action, subject, after)
    select ${job.createdBy}, 'job.end', ${subject}, ${after}::jsonb
    where not exists (select from audit_log where action = 'job.end' and subject = ${subject})`.execute(db);
  await sql`delete from job_parts where shard_id = ${job.shardId} and job_id = ${job.id}`.execute(db);
  await sql`
    update jobs set state = 'done', ended_at = now(), lease = null, leased_until = null
    where ${isLeased(job)} and state = 'running'`.execute(db);
}
