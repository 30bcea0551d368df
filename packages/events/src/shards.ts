import { sql, type Selectable } from 'kysely';
import { TICKET_COLUMNS, type Database, type TicketsTable } from '@floodgate/database';
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
 * Moves an event with its tickets to another shard. Returns the old shard; undefined if there is no such event. Throws Failure if there is
 * no such shard, or if the event has registrations, journal entries or consumers. An API can look for its tickets in the old shard for
 * another 2 s.
 */
export async function moveEvent(transaction: Database, eventId: number, shardId: number) {
  await lockShardOf(transaction, eventId);
  const from = await findShard(transaction, eventId);
  if (from === undefined || from === shardId) return from;
  const shard = transaction.selectFrom('shards').select('id').where('id', '=', shardId);
  if (!(await shard.executeTakeFirst())) throw new Failure('no such shard');
  const ofEvent = sql`where shard_id = ${from} and event_id = ${eventId}`;
  const columns = sql.join(TICKET_COLUMNS.map((name) => sql.ref(name)));
  const { rows: tickets } = await sql<Selectable<TicketsTable>>`
    select ${columns} from tickets ${ofEvent} for update`.execute(transaction);
  const isAny = async (table: 'journal_segments' | 'journal_consumers') =>
    (await sql`select from ${sql.table(table)} ${ofEvent} limit 1`.execute(transaction)).rows.length > 0;
  if (tickets.some(({ taken }) => taken > 0) || (await isAny('journal_segments')))
    throw new Failure(
      'somebody has registered for it, or a ticket of it was sold out, so it stays in its shard',
    );
  if (await isAny('journal_consumers'))
    throw new Failure('it has webhooks or e-mails, so it stays in its shard');
  await sql`delete from tickets ${ofEvent}`.execute(transaction);
  await transaction.updateTable('events').set({ shard_id: shardId }).where('id', '=', eventId).execute();
  for (const ticket of tickets) {
    const values = sql.join(TICKET_COLUMNS.map((name) => ticket[name]));
    await sql`insert into tickets (shard_id, ${columns}) values (${shardId}, ${values})`.execute(transaction);
  }
  return from;
}
