import { systemClock, withDeadline, type Logger } from '@floodgate/service';
import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** The shared counter's answer to a draw. */
interface Draw {
  /** Permits of this window that all processes drew before, possibly more than the limit. */
  drawnBefore: number;
  /** Time from the start of the statement to the end of the window, by Postgres's clock. */
  endsInMs: number;
}

/** Whether a request is admitted. */
export interface Verdict {
  admitted: boolean;
  /** How many more permits this process expects to get in this second. */
  remaining: number;
  /** Milliseconds until the second ends. */
  endsInMs: number;
  /**
   * A refused request can be retried after this time: then all requests that were refused before it in this
   * second can have been admitted.
   */
  retryAfterSeconds?: number;
}

const WINDOW_MS = 1_000;
/** The largest part of the limit that a process draws ahead of need is one of these chunks. */
const CHUNKS_PER_WINDOW = 10;

/** One process's share of a rate limit. */
export interface QuotaLease {
  /**
   * Takes permits under a limit per second, all of them or none. Resolves without a draw if this process has
   * enough, or if no process can get enough.
   */
  take(limit: number, permits?: number): Promise<Verdict>;
}

/**
 * Returns one process's share of a rate limit. Permits are drawn in chunks from a counter that all processes
 * share, and expire with the second in which they were drawn. So all processes together never exceed the
 * limit. A process draws at most as many permits ahead as it has spent in this second, so a process with
 * little traffic does not keep permits that others could use.
 *
 * `draw` requests permits from the shared counter. It must not reject: null means that the counter does not
 * answer.
 */
export function createQuotaLease(
  draw: (wanted: number) => Promise<Draw | null>,
  clock = systemClock,
): QuotaLease {
  let drawing: Promise<void> | null = null;
  let waiting = 0;
  let endsAt = -Infinity;
  /** Permits of this second that this process has drawn and not spent. */
  let left = 0;
  let spent = 0;
  /** Permits that were refused in this second. */
  let refused = 0;
  /** Permits of this second that all processes have drawn, as of this process's last draw. */
  let drawn = 0;

  async function drawMore(limit: number) {
    const startedAt = clock.now();
    const isOver = startedAt >= endsAt;
    if (isOver) {
      spent = 0;
      refused = 0;
      left = 0;
    }
    const ahead = Math.min(spent, Math.ceil(limit / CHUNKS_PER_WINDOW));
    const wanted = Math.max(waiting - left, ahead);
    const answer = await draw(wanted);
    if (answer === null) {
      // Without the counter, this process admits up to the limit by itself for a second, and then draws
      // again.
      endsAt = clock.now() + WINDOW_MS;
      left = Math.max(0, limit - spent);
      drawn = Infinity;
      return;
    }
    const { drawnBefore, endsInMs } = answer;
    // Measured from before the draw was sent: the second ends here a little early, never late.
    const isSameSecond = !isOver && startedAt + endsInMs < endsAt + WINDOW_MS / 2;
    endsAt = startedAt + endsInMs;
    // Requests may have spent permits during the draw: add to the permits that are left now.
    if (!isSameSecond) left = 0;
    left += Math.max(0, Math.min(wanted, limit - drawnBefore));
    drawn = drawnBefore + wanted;
  }

  async function take(limit: number, permits = 1): Promise<Verdict> {
    for (;;) {
      const endsInMs = Math.max(0, endsAt - clock.now());
      // A draw would only take permits from other requests.
      if (permits > limit) return { admitted: false, remaining: 0, endsInMs };
      const undrawn = Math.max(0, limit - drawn);
      const remaining = Math.min(limit, left - permits + undrawn);
      if (endsInMs > 0 && left >= permits) {
        left -= permits;
        spent += permits;
        return { admitted: true, remaining, endsInMs };
      }
      if (endsInMs > 0 && remaining < 0) {
        refused += permits;
        const retryAfterSeconds = Math.ceil(refused / limit);
        return { admitted: false, remaining: remaining + permits, endsInMs, retryAfterSeconds };
      }
      waiting += permits;
      drawing ??= drawMore(limit).finally(() => (drawing = null));
      await drawing;
      waiting -= permits;
    }
  }

  return { take };
}

/** Limit of the wait for a shared counter. After it, this process decides alone. */
export const DRAW_WITHIN_MS = 500;

/** A row of these tables counts permits of the current second for all processes. */
type Counters = 'rate_limit_windows' | 'mail_rate_windows';

/**
 * Returns a function that opens a lease on a counter of a table. An outage of the counters is logged once.
 */
export function quotaLeases(db: Database, log: Logger, table: Counters, clock = systemClock) {
  let isAlone = false;
  const late = () => new Error(`no answer within ${DRAW_WITHIN_MS} ms`);
  const drawInTime = async (id: number, wanted: number) => {
    const draw = drawPermits(db, table, id, wanted).catch((error: Error) => error);
    const result = await withDeadline(draw, DRAW_WITHIN_MS, late, clock);
    const hasFailed = result instanceof Error;
    if (hasFailed && !isAlone)
      log.warn({ err: result }, 'rate limits are not shared: their counter does not answer');
    if (!hasFailed && isAlone) log.info('rate limits are shared again');
    isAlone = hasFailed;
    return hasFailed ? null : result;
  };
  return (id: number) => createQuotaLease((wanted) => drawInTime(id, wanted), clock);
}

/**
 * Counts `wanted` permits against the counter's current second. The counter has no limit: the caller must not
 * spend permits above its limit. Postgres's clock decides for all processes. If it steps back, a second lasts
 * up to one second longer, or the count starts again at zero.
 */
export async function drawPermits(db: Database, table: Counters, id: number, wanted: number) {
  // A draw that waited for another one may have started a second earlier. It counts against the newer second.
  const { rows } = await sql<Draw>`
    insert into ${sql.table(table)} as kept (id, epoch_second, drawn)
    values (${id}, floor(extract(epoch from now())), ${wanted}::integer)
    on conflict (id) do update set
      epoch_second = case when kept.epoch_second = excluded.epoch_second + 1
        then kept.epoch_second else excluded.epoch_second end,
      drawn = excluded.drawn + case when kept.epoch_second in (excluded.epoch_second, excluded.epoch_second + 1)
        then kept.drawn else 0 end
    returning drawn - ${wanted}::integer as "drawnBefore",
      1000 * (epoch_second + 1 - extract(epoch from now())) as "endsInMs"`.execute(db);
  return rows[0]!;
}
