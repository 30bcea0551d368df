import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import type { RunningContender } from './contender.ts';
import { registrationOf, ROOMY } from '../rates/workloads.ts';
import { batchedInserts } from './batched-inserts.ts';
import { bullmq, naive } from './peers.ts';
import { createTestDatabase, type TestDatabase } from '@floodgate/test/harness/database.ts';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { attendee, PartnerClient } from '@floodgate/test/harness/partner-client.ts';
import { waitUntil } from '@floodgate/test/harness/wait-until.ts';

const SEATS = 25;
const REQUESTS = 40;

let database: TestDatabase;
let fixture: Fixture;
beforeEach(async () => {
  database = await createTestDatabase();
  fixture = await createFixture(database.db);
});
afterEach(() => database.drop());

for (const peer of [naive, bullmq]) {
  const missing = inject('redisUrl') ? '' : inject('redisReason');
  describe.skipIf(missing)(missing ? `${peer.name} (${missing})` : peer.name, () => {
    let running: RunningContender;
    beforeEach(async () => {
      running = await peer.start({
        databaseUrl: database.url,
        redisUrl: inject('redisUrl') ?? '',
        db: database.db,
      });
    });
    afterEach(() => running.stop());

    test('sells each seat once, says why it refuses, and confirms what it sold', async () => {
      const since = new Date(Date.now() - 60_000);
      const ticketId = await fixture.addTicket({ capacity: SEATS });
      const closedId = await fixture.addTicket({ saleEndsAt: new Date(Date.now() - 1_000) });
      const client = new PartnerClient(running.baseUrl, fixture);
      const register = async (id: number) => {
        for (;;) {
          const { body } = await client.register(attendee(id));
          // A peer on a busy machine, which has reserved nothing.
          if (body.responseCode !== '90') return body;
        }
      };

      const answers = await Promise.all(Array.from({ length: REQUESTS }, () => register(ticketId)));
      const registered = answers.filter(({ responseCode }) => responseCode === '00');
      expect(registered).toHaveLength(SEATS);
      expect(new Set(registered.map(({ responseData }) => responseData)).size).toBe(SEATS);
      expect(answers.filter(({ responseCode }) => responseCode === '32')).toHaveLength(REQUESTS - SEATS);
      expect((await register(closedId)).responseCode).toBe('31');
      expect((await register(2_000_000_000)).responseCode).toBe('30');

      const books = running.books!;
      await waitUntil('all are confirmed', () => books.isFinalized());
      expect(await books.read()).toEqual({ registered: SEATS, pending: 0, wrongTickets: 0 });
      const { p99Ms, lastFinishedAt } = await books.readFinalization(since);
      expect(p99Ms).toBeGreaterThan(0);
      expect(lastFinishedAt?.getTime()).toBeGreaterThan(since.getTime());
    });
  });
}

test('the ceiling of batched inserts counts what it has stored', async () => {
  const { url: databaseUrl, db } = database;
  const inserts = await batchedInserts.start({ databaseUrl, redisUrl: '', db });
  const requests = [registrationOf(fixture, await fixture.addTicket({ capacity: ROOMY }))];
  const load = { baseUrl: inserts.baseUrl, requests, connections: 1, seconds: 0.2 };
  const { answers } = await inserts.generate!(load);
  expect(answers['200']).toBeGreaterThan(128);
  expect(await inserts.books!.read()).toEqual({ registered: answers['200'], pending: 0, wrongTickets: 0 });
});
