import type { Database } from './connect.ts';

/** Runs `work` in a transaction: in `db` itself if it is one, otherwise in a new one. */
export function inTransaction<Result>(
  db: Database,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
