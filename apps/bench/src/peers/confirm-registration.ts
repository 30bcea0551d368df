import type { Database } from '@floodgate/database';
import { CompiledQuery } from 'kysely';

const CONFIRM = `
  update peer_registrations set state = 'confirmed', finished_at = clock_timestamp()
  where serial = $1::bigint and state = 'pending'`;
const CONFIRM_ALL = `
  update peer_registrations set state = 'confirmed', finished_at = clock_timestamp()
  where serial = any($1::bigint[]) and state = 'pending'`;

/** The job's handler. Idempotent: a confirmed registration does not change. */
export async function confirmRegistration(db: Database, serial: number): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(CONFIRM, [serial]));
}

/** The handler of a queue that passes several jobs at once. */
export async function confirmRegistrations(db: Database, serials: readonly number[]): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(CONFIRM_ALL, [serials]));
}
