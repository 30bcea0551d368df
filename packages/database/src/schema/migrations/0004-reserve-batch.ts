import type { Kysely } from 'kysely';
import { PLAIN } from '../engines.ts';
import { createReserveBatch } from '../reserve-batch.ts';

/** A batch's steps. On a cluster `distribute` puts its own kind of function in the place of this one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createReserveBatch(PLAIN).execute(db);
}
