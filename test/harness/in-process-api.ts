import { ApiConfig } from '@floodgate/api/config';
import { startApi } from '@floodgate/api/start-api';
import { loadConfig, type Clock } from '@floodgate/service';
import { keptLog } from './kept-log.ts';
import { underTest } from './service-roles.ts';

/** An API in the test's own process, with its log. */
export interface InProcessApi {
  baseUrl: string;
  log(): string;
  /** Empties the log. */
  forgetLog(): void;
  /** Throws if the log contains private data: see private-data.ts. `close` calls it as well. */
  assertNothingPrivate(): void;
  close(): Promise<void>;
}

/**
 * For tests that must not depend on how fast the machine is. A group waits for a lock for a quarter of this
 * time. With a clock of the test, only the test decides when it is over.
 */
export const PATIENT = { ANSWER_WITHIN_MS: '60000' };

/** Starts the API as main.ts does, on a free port. By default the queue is in the same Postgres, and the clock is that of the process. */
export async function startInProcessApi(
  env: { DATABASE_URL: string } & Record<string, string>,
  clock?: Clock,
): Promise<InProcessApi> {
  const given = { HOST: '127.0.0.1', PORT: '0', QUEUE_URL: env.DATABASE_URL, ...env };
  const config = loadConfig(ApiConfig, underTest('api', given));
  const { log, logged, forgetLog, assertNothingPrivate } = keptLog('API');
  const api = await startApi(config, log, clock);
  return {
    baseUrl: api.baseUrl,
    log: logged,
    forgetLog,
    assertNothingPrivate,
    close: async () => {
      await api.disposeAsync();
      assertNothingPrivate();
    },
  };
}
