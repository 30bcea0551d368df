import { randomInt } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import { TICKET_COLUMNS, type Database, type TicketsTable } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';

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

/** Returns a shard with the fewest events: by chance where several have, as others may be choosing now. */
export async function chooseShard(db: Database): Promise<number> {
  const shards = await listShards(db);
  const fewest = Math.min(...shards.map(({ events }) => events));
  const choices = shards.filter(({ events }) => events === fewest);
  return choices[randomInt(choices.length)]!.id;
}

/** Returns the shard in which an event lives, or undefined where there is no such event. */
export async function findShard(db: Database, eventId: number): Promise<number | undefined> {
  const event = db.selectFrom('events').select('shard_id').where('id', '=', eventId);
  return (await event.executeTakeFirst())?.shard_id;
}

// Spells "evnt". On a cluster a lock of the event's row would need every server, and keep nobody from adding tickets.
const SHARD_LOCK = 0x65766e74;

/** Keeps an event in its shard until the transaction ends. Waits for a move that is running. */
export async function keepInShard(transaction: Database, eventId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${SHARD_LOCK}, ${eventId}::integer)`.execute(transaction);
}

/**
 * Moves an event with its tickets to another shard. Returns the old shard. Throws Failure if there is
 * no such event or shard, or if the event has registrations, journal entries or consumers. An API can look for its tickets in the old shard for
 * another 2 s.
 */
export async function moveEvent(transaction: Database, eventId: number, shardId: number) {
  // Waits until no transaction keeps the event in its shard, and for other moves.
  await sql`select pg_advisory_xact_lock(${SHARD_LOCK}, ${eventId}::integer)`.execute(transaction);
  const from = await findShard(transaction, eventId);
  if (from === undefined) throw new Failure('no such event');
  if (from === shardId) return from;
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
