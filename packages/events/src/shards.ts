import { sql } from 'kysely';
import { TICKET_COLUMNS, type Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { findShard, lockShardOf } from './events.ts';

/** Returns all shards, each with the number of events that live in it. */
export async function listShards(db: Database) {
  return db
    .selectFrom('shards')
    .leftJoin('events', 'events.shard_id', 'shards.id')
    .select(({ fn }) => ['shards.id', fn.count<number>('events.id').as('events')])
    .groupBy('shards.id')
    .orderBy('shards.id')
    .execute();
}

/**
 * Moves an event with its tickets to another shard. Returns where it was; undefined where there is no such event. Throws
 * Failure where there is no such shard, or somebody has registered for it or is to be told of it. An API may look for its tickets where they were for another 2 s.
 */
export async function moveEvent(transaction: Database, eventId: number, shardId: number) {
  await lockShardOf(transaction, eventId);
  const from = await findShard(transaction, eventId);
  if (from === undefined || from === shardId) return from;
  const shard = transaction.selectFrom('shards').select('id').where('id', '=', shardId);
  if (!(await shard.executeTakeFirst())) throw new Failure('no such shard');
  const tickets = transaction
    .selectFrom('tickets')
    .where('shard_id', '=', from)
    .where('event_id', '=', eventId);
  const rows = await tickets
    .select([...TICKET_COLUMNS])
    .forUpdate()
    .execute();
  const segments = transaction.selectFrom('journal_segments').select('last_offset');
  const history = segments.where('shard_id', '=', from).where('event_id', '=', eventId).limit(1);
  if (rows.some(({ taken }) => taken > 0) || (await history.executeTakeFirst()))
    throw new Failure(
      'somebody has registered for it, or a ticket of it was sold out, so it stays where it is',
    );
  const readers = transaction.selectFrom('journal_consumers').select('id').where('shard_id', '=', from);
  if (await readers.where('event_id', '=', eventId).limit(1).executeTakeFirst())
    throw new Failure(
      'somebody is told of what becomes of it, by webhook or e-mail, so it stays where it is',
    );
  await sql`delete from tickets where shard_id = ${from} and event_id = ${eventId}`.execute(transaction);
  await transaction.updateTable('events').set({ shard_id: shardId }).where('id', '=', eventId).execute();
  for (const row of rows) {
    const columns = sql.join(TICKET_COLUMNS.map((name) => sql.ref(name)));
    const values = sql.join(TICKET_COLUMNS.map((name) => row[name]));
    await sql`
      insert into tickets (shard_id, ${columns}) overriding system value values (${shardId}, ${values})`.execute(
      transaction,
    );
  }
  return from;
}
