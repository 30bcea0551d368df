import { defineJob } from '@floodgate/queue';
import { Type } from '@sinclair/typebox';

/** Forwards feedback. */
export const forwardFeedbackJob = defineJob({
  name: 'forward-feedback',
  queue: 'feedback',
  payload: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  attempts: 5,
  backoffMs: 1_000,
  timeoutMs: 10_000,
  concurrency: 2,
});
