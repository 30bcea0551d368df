import { askShards, shardIds, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { DescribedTicket } from './tickets.ts';

/** The seats of an event, over its tickets, and the state of their sale. */
export interface SaleOfEvent {
  tickets: number;
  capacity: number;
  taken: number;
  left: number;
  waiting: number;
  /** Tickets that are not taken off sale. */
  active: number;
  /** Those of them that are in their sales window. */
  open: number;
  /** Seats left of tickets that are in their sales window. */
  openLeft: number;
  /** When the next of the other tickets opens. Null: none does. */
  opensAt: Date | null;
}

/** Returns the sale of an event as its tickets have it at a time. */
export function saleOf(tickets: readonly DescribedTicket[], now: Date): SaleOfEvent {
  const sum = (of: readonly DescribedTicket[], field: 'capacity' | 'taken' | 'left' | 'waiting') =>
    of.reduce((total, ticket) => total + ticket[field], 0);
  const active = tickets.filter((ticket) => ticket.active);
  const open = active.filter(
    ({ saleStartsAt, saleEndsAt }) => (saleStartsAt ?? now) <= now && (!saleEndsAt || now < saleEndsAt),
  );
  const opens = active.flatMap(({ saleStartsAt }) =>
    saleStartsAt && saleStartsAt > now ? [+saleStartsAt] : [],
  );
  return {
    tickets: tickets.length,
    capacity: sum(tickets, 'capacity'),
    taken: sum(tickets, 'taken'),
    left: sum(tickets, 'left'),
    waiting: sum(tickets, 'waiting'),
    active: active.length,
    open: open.length,
    openLeft: sum(open, 'left'),
    opensAt: opens.length > 0 ? new Date(Math.min(...opens)) : null,
  };
}

/** Returns the sale of each event now. Events of shards that are down, and those without tickets, are missing. */
export async function readEventSales(db: Database): Promise<Map<number, SaleOfEvent>> {
  const { answers } = await askShards(await shardIds(db), async (shardId) => {
    const isOpen = sql`active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true)`;
    const { rows } = await sql<SaleOfEvent & { eventId: number }>`
      select event_id as "eventId", count(*)::integer as tickets, sum(capacity)::float8 as capacity,
        sum(taken)::float8 as taken, sum(capacity - taken)::float8 as left, sum(waiting)::float8 as waiting,
        (count(*) filter (where active))::integer as active, (count(*) filter (where ${isOpen}))::integer as open,
        coalesce(sum(capacity - taken) filter (where ${isOpen}), 0)::float8 as "openLeft",
        min(sale_starts_at) filter (where active and sale_starts_at > now()) as "opensAt"
      from tickets where shard_id = ${shardId} group by event_id`.execute(db);
    return rows;
  });
  return new Map(answers.flat().map(({ eventId, ...sale }) => [eventId, sale]));
}
