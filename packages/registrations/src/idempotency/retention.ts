import { whole } from '@floodgate/service';

/** The contract promises this to partners. */
export const DEFAULT_RETENTION_HOURS = 24;

/** The API ignores older keys, and the worker deletes them. */
export const retentionSettings = {
  IDEMPOTENCY_RETENTION_HOURS: whole('how long an Idempotency-Key counts: the same for API and worker', {
    minimum: DEFAULT_RETENTION_HOURS,
    maximum: 8_760,
    default: DEFAULT_RETENTION_HOURS,
  }),
};
