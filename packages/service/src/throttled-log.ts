import type { FastifyBaseLogger } from 'fastify';

const LOG_INTERVAL_MS = 1_000;

/**
 * A warning that is logged once a second at most, with the number of those that were not: an outage fails every request,
 * and one line tells as much as thousands.
 */
export function throttledWarn(
  message: string,
): (log: Pick<FastifyBaseLogger, 'warn'>, facts: object) => void {
  let lastLoggedAt = -Infinity;
  let unlogged = 0;
  return (log, facts) => {
    if (performance.now() - lastLoggedAt < LOG_INTERVAL_MS) {
      unlogged += 1;
      return;
    }
    log.warn({ ...facts, unlogged }, message);
    lastLoggedAt = performance.now();
    unlogged = 0;
  };
}
