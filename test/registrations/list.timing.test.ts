import { expect } from 'vitest';
import { apiTest } from '../harness/api-test.ts';
import { holdTable } from '../harness/hold-table.ts';
import { measuredWait } from '../harness/measured-wait.ts';

const { test, given } = apiTest({ own: 'what other files left would change what is measured' });

// How soon everybody is answered. list.test.ts tests the answers, packages/service/src/fair-queue.test.ts the
// time limit.

test.override('ticket', {});

const ANSWER_WITHIN_MS = 3_000;
test.override('apiSettings', { ANSWER_WITHIN_MS: String(ANSWER_WITHIN_MS) });

const isLive = () => fetch(`${given.api.baseUrl}/health/live`);

const ask = (query: string) =>
  fetch(`${given.api.baseUrl}/api/v1/events/registrations${query}`, {
    headers: { 'x-secret-key': given.gala.secretKey, 'x-event-ref': given.gala.eventRef },
  });

test('where more lists are asked for than Postgres answers, everybody is answered in time', async () => {
  expect((await ask('')).status).toBe(200);
  const { release } = await holdTable(given.database.db, 'journal_segments');
  const startedAt = performance.now();
  const reference = measuredWait(ANSWER_WITHIN_MS, isLive);
  const answers = await Promise.all(Array.from({ length: 300 }, () => ask('?limit=1000')));
  const took = performance.now() - startedAt;
  expect(took).toBeLessThan(1.5 * (await reference));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  await release();
});
