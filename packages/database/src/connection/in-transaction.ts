import type { Database } from './connect.ts';

/** Does `work` in a transaction: in `db` itself where that is one, or else in one of its own. */
export function inTransaction<Result>(
  db: Database,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}
