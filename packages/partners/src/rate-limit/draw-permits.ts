import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** What the shared counter answers to a draw. */
export interface Draw {
  /** Permits that were drawn of this window before, by all processes; may exceed the limit. */
  drawnBefore: number;
  /** How long the window lasts from the moment the statement began, by Postgres's clock. */
  endsInMs: number;
}

/**
 * Counts `wanted` permits against the partner's current second. It knows no limit: what lies above it the caller must
 * not spend. One clock decides for all processes, Postgres's; should it step back, a second lasts up to one longer, or
 * the count begins anew.
 */
export async function drawPermits(db: Database, partnerId: number, wanted: number): Promise<Draw> {
  // A draw that waited for another may have begun a second earlier than that one: it takes part in the newer second.
  const { rows } = await sql<Draw>`
    insert into rate_limit_windows as kept (partner_id, epoch_second, drawn)
    values (${partnerId}, floor(extract(epoch from now())), ${wanted}::integer)
    on conflict (partner_id) do update set
      epoch_second = case when kept.epoch_second = excluded.epoch_second + 1
        then kept.epoch_second else excluded.epoch_second end,
      drawn = excluded.drawn + case when kept.epoch_second in (excluded.epoch_second, excluded.epoch_second + 1)
        then kept.drawn else 0 end
    returning drawn - ${wanted}::integer as "drawnBefore",
      1000 * (epoch_second + 1 - extract(epoch from now())) as "endsInMs"`.execute(db);
  return rows[0]!;
}
