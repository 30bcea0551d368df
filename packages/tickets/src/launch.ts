import type { LaunchState } from '@floodgate/contract';
import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** The active tickets of an event, and the time at which they were read. */
export interface Launch {
  /** By Postgres's clock, in milliseconds since 1970. */
  readAt: number;
  tickets: LaunchTicket[];
}

export interface LaunchTicket {
  seatsLeft: number;
  /** Milliseconds since 1970; null where the sale has no such border. */
  startsAt: number | null;
  endsAt: number | null;
}

/** Reads what the state of an event's launch follows from. */
export async function readLaunch(db: Database, eventId: number, shardId: number): Promise<Launch> {
  const { rows } = await sql<Launch>`
    select (extract(epoch from now()) * 1000)::float8 as "readAt",
      coalesce(jsonb_agg(jsonb_build_object(
        'seatsLeft', capacity - taken,
        'startsAt', (extract(epoch from sale_starts_at) * 1000)::float8,
        'endsAt', (extract(epoch from sale_ends_at) * 1000)::float8
      )), '[]') as tickets
    from tickets where shard_id = ${shardId} and event_id = ${eventId} and active`.execute(db);
  return rows[0]!;
}

/** Returns how far an event's sale is at a moment (milliseconds since 1970). */
export function launchStateAt(tickets: readonly LaunchTicket[], moment: number) {
  const left = tickets.filter(({ endsAt }) => endsAt === null || moment < endsAt);
  const open = left.filter(({ startsAt }) => startsAt === null || startsAt <= moment);
  // Null if one of them has no border, or there are no tickets.
  const borders = (of: 'startsAt' | 'endsAt') => {
    const moments = tickets.map((ticket) => ticket[of]).filter((border) => border !== null);
    return moments.length === tickets.length ? moments : [];
  };
  return {
    phase: phaseOf(open, left),
    opensAt: borders('startsAt').toSorted((one, other) => one - other)[0] ?? null,
    closesAt: borders('endsAt').toSorted((one, other) => other - one)[0] ?? null,
    seatsLeft: left.reduce((sum, { seatsLeft }) => sum + seatsLeft, 0),
  };
}

function phaseOf(open: readonly LaunchTicket[], left: readonly LaunchTicket[]): LaunchState['phase'] {
  if (open.some(({ seatsLeft }) => seatsLeft > 0)) return 'open';
  if (open.length > 0) return 'soldOut';
  return left.length > 0 ? 'scheduled' : 'closed';
}
