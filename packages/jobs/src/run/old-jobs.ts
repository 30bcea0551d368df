import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/**
 * How long a job is kept after its end, with what it could not do. Its digest covers the whole filter, so it must
 * not be kept for ever: a name that the filter contained could be guessed. The audit log keeps start and end.
 */
export const JOB_RETENTION_DAYS = 90;

const JOBS_PER_CALL = 10;
/** Few rows per statement, so that it does not block others for long. */
const FAILURES_PER_STATEMENT = 5_000;

/** Deletes jobs of a shard that ended long ago. Returns whether more may be left. */
export async function deleteOldJobs(db: Database, shardId: number): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    select id from jobs
    where shard_id = ${shardId} and ended_at <= now() - make_interval(days => ${JOB_RETENTION_DAYS}::integer)
    order by ended_at limit ${JOBS_PER_CALL}`.execute(db);
  for (const { id } of rows) {
    if (await deleteFailures(db, shardId, id)) return true;
    await sql`delete from jobs where shard_id = ${shardId} and id = ${id}`.execute(db);
  }
  return rows.length === JOBS_PER_CALL;
}

/** Deletes some of what a job could not do. Returns whether more may be left. */
async function deleteFailures(db: Database, shardId: number, id: string) {
  const { numAffectedRows } = await sql`
    delete from job_failures
    where shard_id = ${shardId} and job_id = ${id} and item = any(array(
      select item from job_failures
      where shard_id = ${shardId} and job_id = ${id} limit ${FAILURES_PER_STATEMENT}
    ))`.execute(db);
  return Number(numAffectedRows) >= FAILURES_PER_STATEMENT;
}
