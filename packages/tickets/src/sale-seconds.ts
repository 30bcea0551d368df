import { sql } from 'kysely';
import { askShards, inCamelCase, shardIds, type Database } from '@floodgate/database';

// The history of the sales of events, by second. One console writes it, and the others read it.

/** Counts by response code. */
export type Counts = Record<string, number>;

/** A second of the sale of an event. */
export interface SaleSecond {
  at: Date;
  /** Seats that were taken since the second before, without those that became free. */
  accepted: number;
  refused: Counts;
  /** By ticket: the seats that are left, and those that were taken since the second before. */
  tickets: Record<string, [left: number, accepted: number]>;
  /** Calls of all events that wait to register. Null: not known. */
  waiting: number | null;
  /** The age of the oldest undelivered entry. 0: nothing waits. Null: not known. */
  undeliveredMs: number | null;
}

/** An event, with its shard. */
export interface EventInShard {
  shardId: number;
  eventId: number;
}

/** The seats of a ticket at a moment. */
export interface SeatsNow {
  eventId: number;
  id: number;
  left: number;
  taken: number;
  /** The second in which they were read, by Postgres's clock. */
  at: Date;
}

/** More events are on sale only in a catalogue, where nobody watches every second of all of them. */
const MOST_EVENTS = 500;

/** Returns the events that are on sale now or within a minute, in the shards that answer, by shard. */
export async function findSales(db: Database): Promise<Map<number, number[]>> {
  const { answers } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await sql<{ id: number }>`
      select distinct t.event_id as id
      from tickets t join events e on e.id = t.event_id
      where t.shard_id = ${shardId} and t.active and e.archived_at is null and e.called_off_at is null
        and coalesce(t.sale_starts_at, '-infinity') < now() + interval '1 minute'
        and coalesce(t.sale_ends_at, 'infinity') > now() - interval '1 minute'
      order by 1 desc limit ${MOST_EVENTS}`.execute(db);
    return [shardId, rows.map(({ id }) => id)] as const;
  });
  return new Map(answers.filter(([, ids]) => ids.length > 0));
}

/** Returns the seats of all tickets of these events of a shard. */
export async function readSeats(
  db: Database,
  shardId: number,
  eventIds: readonly number[],
): Promise<SeatsNow[]> {
  return inCamelCase(db)
    .selectFrom('tickets')
    .select(['eventId', 'id', 'taken', sql<number>`capacity - taken`.as('left')])
    .select(sql<Date>`date_trunc('second', now())`.as('at'))
    .where('shardId', '=', shardId)
    .where('eventId', 'in', [...eventIds])
    .execute();
}

/** Keeps seconds of events of a shard. A second that is there already stays as it is. */
export async function keepSeconds(
  db: Database,
  shardId: number,
  seconds: readonly (SaleSecond & { eventId: number })[],
) {
  const rows = seconds.map(({ refused, tickets, ...second }) => ({
    shardId,
    ...second,
    refused: JSON.stringify(refused),
    tickets: JSON.stringify(tickets),
  }));
  if (rows.length === 0) return;
  await inCamelCase(db)
    .insertInto('saleSeconds')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const secondsOf = (db: Database, { shardId, eventId }: EventInShard) =>
  inCamelCase(db)
    .selectFrom('saleSeconds')
    .select(['at', 'accepted', 'waiting', 'undeliveredMs'])
    .select((row) => [
      row.ref('refused').$castTo<Counts>().as('refused'),
      row.ref('tickets').$castTo<SaleSecond['tickets']>().as('tickets'),
    ])
    .where('shardId', '=', shardId)
    .where('eventId', '=', eventId);

/** Returns the kept seconds of an event after `from` up to `to`, the oldest first. */
export const readSeconds = (db: Database, event: EventInShard, from: Date, to: Date): Promise<SaleSecond[]> =>
  secondsOf(db, event).where('at', '>', from).where('at', '<=', to).orderBy('at').execute();

/** Returns the latest kept second of an event up to a moment. */
export const findSecond = (db: Database, event: EventInShard, at: Date): Promise<SaleSecond | undefined> =>
  secondsOf(db, event).where('at', '<=', at).orderBy('at', 'desc').limit(1).executeTakeFirst();

/** How long seconds are kept. */
export const KEPT_HOURS = 24;

/** Removes the seconds that are older than a day, in the shards that answer. */
export async function removeOldSeconds(db: Database) {
  await askShards(await shardIds(db), (shardId) =>
    sql`
      delete from sale_seconds
      where shard_id = ${shardId} and at < now() - make_interval(hours => ${KEPT_HOURS})`.execute(db),
  );
}
