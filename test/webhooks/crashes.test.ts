import { secretText } from '@floodgate/webhooks/signatures';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { endLeases } from '../harness/pass-time.ts';
import { keepPrivate } from '../harness/private-data.ts';
import { startDeliveryProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { followChain, type Delivery, type Told } from '../harness/webhook-receiver.ts';
import { addWebhook, confirmSome } from '../harness/webhooks.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const KILLS = 4;
const PER_KILL = 2;

test('a delivery process that is killed loses nothing, and repeats only what is the same', async () => {
  const { db } = given.database;
  const env = { DATABASE_URL: given.database.url, WEBHOOK_ALLOW_PRIVATE: 'true' };
  const fixture = await createFixture(db);
  const ticketId = await fixture.addTicket({ capacity: 10_000 });
  let all = 0;
  const confirm = async () => {
    await confirmSome(db, fixture, ticketId, PER_KILL);
    all += PER_KILL;
  };
  const isLast = ({ body }: Delivery) => (JSON.parse(body) as Told).data.cursor === String(all);
  // The last message is not answered, so it is under way when the process is killed.
  let isHeld = true;
  const receiver = await startReceiverInTest((delivery, response) => {
    if (!isHeld || !isLast(delivery)) response.writeHead(204).end();
  });
  const { endpoint, keys } = await addWebhook(db, fixture, { url: receiver.url, entriesPerMessage: 3 });
  keepPrivate([secretText(keys.secret), keys.secret.toString('base64')]);
  await confirm();
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const killed = await startDeliveryProcess(env);
    await waitUntil('the last is under way', () => receiver.deliveries.some(isLast));
    await killed.end('SIGKILL');
    // There was room for more in it. Made once more, it must not grow.
    await confirm();
    await endLeases(db);
  }
  isHeld = false;
  const last = await startDeliveryProcess(env);
  onTestFinished(() => void last.end('SIGTERM'));
  await waitUntil('all are told', () => followChain(receiver.told()).passes.length >= all);

  const { passes, breaks } = followChain(receiver.told());
  expect(breaks).toEqual([]);
  expect([passes.length, new Set(passes).size]).toEqual([all, all]);
  const bodies = new Map<string, string>();
  for (const { id, body } of receiver.deliveries) {
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
  // One message for each range, and a repeat for each kill.
  expect(new Set(receiver.told().map(({ data }) => data.previousCursor)).size).toBe(bodies.size);
  expect(receiver.deliveries.length - bodies.size).toBe(KILLS);
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
});
