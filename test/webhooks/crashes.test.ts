import { secretText } from '@floodgate/webhooks';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture } from '../harness/fixture.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { startDeliveryProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { followChain, startReceiver } from '../harness/webhook-receiver.ts';
import { addWebhook, confirmSome } from '../harness/webhooks.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const KILLS = 4;
const START = 60;
const PER_KILL = 40;

test(
  'a delivery process that is killed loses nothing, and repeats only what is the same',
  { timeout: 120_000 },
  async () => {
    const { db } = database;
    const fixture = await createFixture(db);
    const ticketId = await fixture.addTicket({ capacity: 10_000 });
    // The answer takes a while, so that a message is under way whenever the process is killed.
    const receiver = await startReceiver(
      (_, response) => void setTimeout(() => response.writeHead(204).end(), 30),
    );
    onTestFinished(() => receiver.close());
    const { endpoint, keys } = await addWebhook(db, fixture, { url: receiver.url, entriesPerMessage: 3 });
    keepPrivate([secretText(keys.secret), keys.secret.toString('base64')]);
    await confirmSome(db, fixture, ticketId, START);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const killed = await startDeliveryProcess({
        DATABASE_URL: database.url,
        WEBHOOK_ALLOW_PRIVATE: 'true',
      });
      const before = receiver.deliveries.length;
      await waitUntil('some have arrived', () => receiver.deliveries.length >= before + 5);
      await killed.end('SIGKILL');
      // While nobody delivers, more is confirmed: what was under way must not grow by it.
      await confirmSome(db, fixture, ticketId, PER_KILL);
      // Nobody waits for the lease of who is dead.
      await sql`update journal_consumers set leased_until = now() where leased_until is not null`.execute(db);
    }
    const last = await startDeliveryProcess({ DATABASE_URL: database.url, WEBHOOK_ALLOW_PRIVATE: 'true' });
    onTestFinished(() => void last.end('SIGTERM'));
    const all = START + KILLS * PER_KILL;
    await waitUntil('all are told', () => followChain(receiver.told()).passes.length === all);

    const { passes, breaks } = followChain(receiver.told());
    expect(breaks).toEqual([]);
    expect(new Set(passes).size).toBe(all);
    const bodies = new Map<string, string>();
    for (const { id, body } of receiver.deliveries) {
      expect(bodies.get(id) ?? body).toBe(body);
      bodies.set(id, body);
    }
    // One message for each range.
    expect(new Set(receiver.told().map(({ data }) => data.previousCursor)).size).toBe(bodies.size);
    const repeats = receiver.deliveries.length - bodies.size;
    expect(repeats).toBeGreaterThan(0);
    expect(repeats).toBeLessThanOrEqual(KILLS);
    const { headers, body } = receiver.deliveries.at(-1)!;
    new Webhook(secretText(keys.secret)).verify(body, headers);

    await waitUntil('the end is noted', async () => {
      const consumers = db.selectFrom('journal_consumers').selectAll().where('id', '=', endpoint.id);
      return (await consumers.executeTakeFirstOrThrow()).last_offset === all;
    });
    const metrics = await (await fetch(`${last.baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/^floodgate_delivery_webhook_attempts_total\{outcome="delivered"\} \d+$/m);
    expect(metrics).not.toContain(String(receiver.port));
    expect(await last.end('SIGTERM')).toBe(0);
  },
);
