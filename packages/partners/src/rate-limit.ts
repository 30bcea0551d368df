import type { FastifyReply, onRequestHookHandler } from 'fastify';
import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { withDeadline, type Logger } from '@floodgate/service';
import { QuotaLease, type Draw, type Verdict } from './quota-lease.ts';

/** How long requests may wait for the shared counter before this process decides alone. */
export const DRAW_WITHIN_MS = 500;

/**
 * Returns the hook that holds partners to their limit, whatever route they call, before a byte of the body is read. It
 * counts over all processes: closely, but without a round trip for every request. `db` is where the shared counter is:
 * connections of its own, or the reads of the partner to be limited block it.
 */
export function limitRate(db: Database, log: Logger): onRequestHookHandler {
  const draw = drawInTime(db, log);
  // Bounded by the number of partners that have a limit.
  const leases = new Map<number, QuotaLease>();
  const leaseOf = (partnerId: number) => {
    const known = leases.get(partnerId);
    if (known) return known;
    const lease = new QuotaLease((wanted) => draw(partnerId, wanted));
    leases.set(partnerId, lease);
    return lease;
  };
  return function limitRequestRate(request, reply, done) {
    const { partnerId, requestsPerSecond } = request.principal;
    // Most partners have none, and are spared the promise.
    if (requestsPerSecond === null) return done();
    const lease = leaseOf(partnerId);
    const charge = async (requests: number) =>
      passOrRefuse(reply, requestsPerSecond, await lease.take(requestsPerSecond, requests));
    request.charge = charge;
    charge(1).then((isPassed) => isPassed && done(), done);
  };
}

/** Of who has no limit. */
export const chargeNothing = () => Promise.resolve(true);

function passOrRefuse(reply: FastifyReply, limit: number, verdict: Verdict): boolean {
  const { admitted, remaining, endsInMs, retryAfterSeconds = 1 } = verdict;
  // draft-ietf-httpapi-ratelimit-headers: quota and window, then what remains and the seconds until it is renewed.
  void reply.header('ratelimit-policy', `"partner";q=${limit};w=1`);
  void reply.header('ratelimit', `"partner";r=${remaining};t=${Math.ceil(endsInMs / 1_000)}`);
  const message = `Too many requests: at most ${limit} a second`;
  if (!admitted) reply.fail('50', { message, retryAfterSeconds });
  return admitted;
}

/** Returns what draws permits, or resolves to null where the counter does not answer; the log says so once. */
function drawInTime(db: Database, log: Logger) {
  let isAlone = false;
  const late = () => new Error(`no answer within ${DRAW_WITHIN_MS} ms`);
  return async (partnerId: number, wanted: number): Promise<Draw | null> => {
    const draw = drawPermits(db, partnerId, wanted).catch((error: Error) => error);
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
