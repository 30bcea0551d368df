import { whole } from '@floodgate/service';

/** What partners are promised, so never less. */
export const DEFAULT_RETENTION_HOURS = 24;

/** Read by the API, for which older keys do not count, and by the worker, which deletes them. */
export const retentionSettings = {
  IDEMPOTENCY_RETENTION_HOURS: whole('how long an Idempotency-Key counts: the same for API and worker', {
    minimum: DEFAULT_RETENTION_HOURS,
    maximum: 8_760,
    default: DEFAULT_RETENTION_HOURS,
  }),
};
