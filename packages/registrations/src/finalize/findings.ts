import type { Database } from '@floodgate/database';
import { readLags, type Lags } from '@floodgate/journal';
import { found, type Finding } from '@floodgate/operators/findings';
import type { QueueBacklog } from '@floodgate/queue';
import { readBacklog } from './backlog.ts';

/** A batch is finalized within a second. An operator should see one that is retried for longer. */
export const MAX_AGE_MS = 60_000;
const FAILING_MS = 5 * 60_000;
const RETRIES_OLD_MS = 6 * 3_600_000;

/** The work that waits for finalization and delivery, and the shards that do not answer. */
export interface Work extends QueueBacklog {
  shardsAway?: number[];
  deliveries: Lags;
}

/** Resolves to the work that waits, in the shards that answer. */
export async function readWork(db: Database): Promise<Work> {
  return { ...(await readBacklog(db)), deliveries: await readLags(db) };
}

/** Returns what is wrong with the work that waits: what has waited for longer than `maxAgeMs`, and what fails. */
export function findingsOfWork({ deliveries: lags, ...backlog }: Work, maxAgeMs = MAX_AGE_MS): Finding[] {
  const { shardsAway = backlog.shardsAway, ...kinds } = lags;
  const { failedBatches, oldestPendingMs } = backlog;
  const findings = [
    failedBatches > 0 && found('batchesFailed', { batches: failedBatches }),
    isOlder(oldestPendingMs, maxAgeMs) && found('backlogOld', { ageMs: oldestPendingMs }),
    ...Object.entries(kinds).flatMap(([kind, { oldestMs, oldestRetryMs, failing, consumers }]) => [
      isOlder(oldestMs, maxAgeMs) && found('deliveriesOld', { kind, ageMs: oldestMs }),
      isOlder(oldestRetryMs, RETRIES_OLD_MS) && found('retriesOld', { kind, ageMs: oldestRetryMs }),
      failing * 2 > consumers &&
        isOlder(oldestRetryMs, FAILING_MS) &&
        found('deliveriesFailing', { kind, failing, consumers }),
    ]),
    shardsAway && shardsAway.length > 0 && found('shardsAway', { shards: shardsAway }),
  ];
  return findings.filter((finding) => finding !== false && finding !== undefined);
}

const isOlder = (ageMs: number | null, limitMs: number): ageMs is number => (ageMs ?? 0) > limitMs;
