import type { Logger } from '@floodgate/config';
import { confirmBatch, failBatch, statementFailure, type Database } from '@floodgate/database';
import type { JobHandlers } from '@floodgate/queue';

/**
 * The handler of finalize-batch. Idempotent: a batch that is confirmed already stays as it is.
 * Where the last attempt fails by the batch's own fault, the batch is given up visibly. Where Postgres was away,
 * it stays pending instead: the relay rings again when Postgres is back.
 */
export function finalizeBatch({ db, log }: { db: Database; log: Logger }): JobHandlers['finalize-batch'] {
  return async ({ batchId }, { isLastAttempt }) => {
    try {
      await confirmBatch(db, batchId);
    } catch (error) {
      const failure = statementFailure(error);
      const isOwnFault = failure === 'bad-value' || failure === 'conflict' || failure === 'unexpected';
      if (isLastAttempt && isOwnFault && (await failBatch(db, batchId, failureName(error)))) {
        log.error({ err: error, batchId }, 'finalization gave up; redrive it when the cause is mended');
      }
      throw error;
    }
  };
}

function failureName(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return code ?? name ?? 'unknown';
}
