import { Type } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { defineJob, handleJobs } from './jobs.ts';
import { consumerSettings, producerSettings } from './settings.ts';

const options = { payload: Type.Object({}), attempts: 10, backoffMs: 500, timeoutMs: 1_000, concurrency: 16 };
const mail = defineJob({ ...options, name: 'send-mail', queue: 'mail' });
const reminder = defineJob({ ...options, name: 'remind', queue: 'mail' });
const done = () => Promise.resolve('done' as const);

test('a missing handler does not compile', () => {
  // @ts-expect-error there is none for "remind"
  handleJobs([mail, reminder], { 'send-mail': done });
  expect(handleJobs([mail, reminder], { 'send-mail': done, remind: done })).toHaveLength(2);
});

test.for(['', 'Mail', 'e-mail', 'mail:1', '1mail'])('%o is no name for a queue', (queue) => {
  expect(() => defineJob({ ...options, name: 'send-mail', queue })).toThrow('not a name for a queue');
});

test('jobs of one queue share its settings', () => {
  expect(Object.keys(producerSettings([mail, reminder]))).toEqual(['MAIL_ATTEMPTS', 'MAIL_BACKOFF_MS']);
  expect(consumerSettings([mail, reminder])).toMatchObject({ MAIL_CONCURRENCY: { default: 16 } });
});

test('jobs of one queue that differ in what its settings say are refused', () => {
  const other = { ...reminder, concurrency: 1 };
  expect(() => consumerSettings([mail, other])).toThrow('jobs of one queue differ in MAIL_CONCURRENCY');
});
