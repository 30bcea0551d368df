import { deleteExpiredIdempotencyKeys } from './delete-expired-keys.ts';
import { type Database } from '@floodgate/database';

/** Rows per statement: small, so that it never holds anything up. */
const STEP = 1_000;

/** Removes some of the idempotency keys that have expired. Returns `more` while there may be more of them. */
export async function expireIdempotencyKeys(db: Database): Promise<'more' | 'done'> {
  return (await deleteExpiredIdempotencyKeys(db, STEP)) === STEP ? 'more' : 'done';
}
