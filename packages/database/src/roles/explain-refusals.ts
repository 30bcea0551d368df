import type { Logger } from '@floodgate/service';
import type { ConnectOptions } from '../connection/connect.ts';
import { explainLack } from './assert-granted.ts';
import type { ServiceName } from './privileges.ts';

const INTERVAL_MS = 60_000;

/** A privilege, column or table that is not there. */
const LACKING = new Set(['42501', '42703', '42P01']);

/**
 * Returns an `onRefusal` for `connect`. It logs what a service's role or schema lacks since an operator changed it, and the
 * command that mends it. Postgres's own message is not logged: it may quote data, in any language.
 */
export function explainRefusals(service: ServiceName, log: Logger): NonNullable<ConnectOptions['onRefusal']> {
  let explainedAt = -Infinity;
  return ({ code = '' }, db) => {
    if (!LACKING.has(code) || performance.now() - explainedAt < INTERVAL_MS) return;
    explainedAt = performance.now();
    explainLack(db, service).then(
      (lack) => lack && log.error({ code }, lack),
      // Whoever sent the statement logs that it failed.
      () => {},
    );
  };
}
