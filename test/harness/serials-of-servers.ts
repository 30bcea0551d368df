import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { inject } from 'vitest';
import { groupOfShard, moveToAnotherServer } from './move-shard.ts';

const SERIALS_OF_SERVER = 2 ** 48;
const APART = 1_000_000;

let continued = 0;

/**
 * Makes the next registrations of a shard get serials of the first or second worker of a Citus cluster: on Citus moves
 * the shard there, and on Postgres continues the sequence there.
 */
export async function continueOnServer(db: Database, shardId: number, worker: 1 | 2): Promise<void> {
  if (inject('engine') === 'postgres') {
    const start = worker * SERIALS_OF_SERVER + ++continued * APART;
    await sql`select setval('registrations_serial_seq', ${start}::bigint)`.execute(db);
  } else if ((await groupOfShard(db, shardId)) !== worker) await moveToAnotherServer(db, shardId);
}

/** Makes the next serial the lowest of all, as that of an operator's change is on Citus by itself. */
export async function continueOnCoordinator(db: Database): Promise<void> {
  if (inject('engine') === 'postgres')
    await sql`select setval('registrations_serial_seq', ${++continued * APART}::bigint)`.execute(db);
}
