import { createTestDatabase } from '@floodgate/test/harness/database.ts';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { expect, onTestFinished, test } from 'vitest';
import { measureBatchedInserts } from './batched-inserts.ts';

test('the ceiling of batched inserts counts what it has stored', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const fixture = await createFixture(database.db);
  const { partnerId, eventId } = fixture;
  const ticketId = await fixture.addTicket({ capacity: 2_000_000_000 });
  const ceiling = { databaseUrl: database.url, partnerId, eventId, ticketId, seconds: 0.2, batchSize: 128 };
  const { perSecond } = await measureBatchedInserts(ceiling);
  expect(perSecond).toBeGreaterThan(128);
});
