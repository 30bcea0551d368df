import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { defineJob, handled } from './jobs.ts';

const mailJob = defineJob({
  name: 'send-mail',
  queue: 'mail',
  payload: Type.Object({ to: Type.String() }),
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 1_000,
  concurrency: 16,
});

test('a handler for another payload does not compile', () => {
  // @ts-expect-error it takes a number
  handled(mailJob, ({ to }: { to: number }) => Promise.resolve({ snoozeMs: to }));
  expect(handled(mailJob, ({ to }) => Promise.resolve({ snoozeMs: to.length })).queue).toBe('mail');
});

test('a payload is checked by its schema', () => {
  expect([{ to: 'jane' }, { to: 7 }, null].map((payload) => mailJob.isPayload(payload))).toEqual([
    true,
    false,
    false,
  ]);
});
