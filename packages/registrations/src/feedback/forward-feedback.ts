import type { Database } from '@floodgate/database';
import type { JobHandler } from '@floodgate/queue';
import type { forwardFeedbackJob } from './job.ts';
import { markForwarded } from './mark-forwarded.ts';

/** Handles forward-feedback. */
export function forwardFeedback(db: Database): JobHandler<typeof forwardFeedbackJob> {
  return async ({ id }) => {
    await markForwarded(db, id);
    return 'done';
  };
}
