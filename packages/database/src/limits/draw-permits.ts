import { withDeadline, type Logger } from '@floodgate/service';
import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import type { Draw } from './quota-lease.ts';

/** How long anybody may wait for a shared counter before this process decides alone. */
export const DRAW_WITHIN_MS = 500;

/** A count of permits of the current second that all processes share: a row of one of these tables. */
export interface Counter {
  table: 'rate_limit_windows' | 'mail_rate_windows';
  id: number;
}

/** Returns what draws permits, or resolves to null where the counter does not answer; the log says so once. */
export function drawInTime(db: Database, log: Logger) {
  let isAlone = false;
  const late = () => new Error(`no answer within ${DRAW_WITHIN_MS} ms`);
  return async (counter: Counter, wanted: number): Promise<Draw | null> => {
    const draw = drawPermits(db, counter, wanted).catch((error: Error) => error);
    const result = await withDeadline(draw, DRAW_WITHIN_MS, late);
    const hasFailed = result instanceof Error;
    if (hasFailed && !isAlone)
      log.warn({ err: result }, 'rate limits are not shared: their counter does not answer');
    if (!hasFailed && isAlone) log.info('rate limits are shared again');
    isAlone = hasFailed;
    return hasFailed ? null : result;
  };
}

/**
 * Counts `wanted` permits against the counter's current second. It knows no limit: what lies above it the caller must
 * not spend. Postgres's clock decides for all processes. If it steps back, a second lasts up to one second longer, or
 * the count starts again at zero.
 */
export async function drawPermits(db: Database, counter: Counter, wanted: number): Promise<Draw> {
  // A draw that waited for another may have begun a second earlier than that one: it takes part in the newer second.
  const { rows } = await sql<Draw>`
    insert into ${sql.table(counter.table)} as kept (id, epoch_second, drawn)
    values (${counter.id}, floor(extract(epoch from now())), ${wanted}::integer)
    on conflict (id) do update set
      epoch_second = case when kept.epoch_second = excluded.epoch_second + 1
        then kept.epoch_second else excluded.epoch_second end,
      drawn = excluded.drawn + case when kept.epoch_second in (excluded.epoch_second, excluded.epoch_second + 1)
        then kept.drawn else 0 end
    returning drawn - ${wanted}::integer as "drawnBefore",
      1000 * (epoch_second + 1 - extract(epoch from now())) as "endsInMs"`.execute(db);
  return rows[0]!;
}
