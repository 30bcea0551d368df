import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { waitUntil } from './wait-until.ts';

/** Returns the server of a Citus cluster that stores the events of a shard. */
async function nodeOfShard(db: Database, shardId: number) {
  const { rows } = await sql<{ port: number; group: number }>`
    select nodeport as port, groupid as "group"
    from pg_dist_placement join pg_dist_node using (groupid)
    where shardid = get_shard_id_for_distribution_column('tickets', ${shardId}::integer)`.execute(db);
  return rows[0]!;
}

/** Returns the port of the server of a shard. */
export const serverOfShard = async (db: Database, shardId: number) => (await nodeOfShard(db, shardId)).port;

/** Returns the group of the server of a shard: 1 for the first worker. */
export const groupOfShard = async (db: Database, shardId: number) => (await nodeOfShard(db, shardId)).group;

/**
 * Moves all that belongs to a shard to another server, once Citus has cleaned up after the move before: it refuses to
 * move back onto that.
 */
export async function moveToAnotherServer(db: Database, shardId: number): Promise<void> {
  const from = await serverOfShard(db, shardId);
  await waitUntil('nothing is left of the move before', async () => {
    await sql`call citus_cleanup_orphaned_resources()`.execute(db);
    const { rows } = await sql`select from pg_dist_cleanup`.execute(db);
    return rows.length === 0;
  });
  await sql`
    select citus_move_shard_placement(
      get_shard_id_for_distribution_column('tickets', ${shardId}::integer), here.nodename, here.nodeport, there.nodename,
      there.nodeport, 'block_writes'
    )
    from pg_dist_node here, (
      select * from pg_dist_node where shouldhaveshards and nodeport <> ${from} order by nodeport limit 1
    ) there
    where here.nodeport = ${from}`.execute(db);
}
