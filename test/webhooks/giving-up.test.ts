import { findNotice } from '@floodgate/webhooks/notices';
import { sql } from 'kysely';
import { beforeEach, expect, onTestFinished } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { passTime } from '../harness/pass-time.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startReceiver, type Receiver } from '../harness/webhook-receiver.ts';
import { addWebhook, changeWebhook, confirmSome, deliverWebhooks } from '../harness/webhooks.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

// What becomes of a webhook that is given up, and of what its partner is to be told.

test.override('ticket', { capacity: 100_000 });

let receiver: Receiver;
beforeEach(async () => {
  for (const table of ['journal_consumers', 'webhook_endpoints', 'deliveries'])
    await sql`delete from ${sql.table(table)}`.execute(given.database.db);
  receiver = await startReceiver((_, response) => void response.writeHead(410).end());
  return () => receiver.close();
});

async function deliver() {
  const delivering = await deliverWebhooks(given.database.url);
  onTestFinished(() => delivering.close());
  return delivering;
}

async function addGone(of = given.gala, ticket = given.ticketId) {
  const { endpoint } = await addWebhook(given.database.db, of, {
    url: `${receiver.url}?token=s3cret-of-theirs`,
  });
  await confirmSome(given.database.db, of, ticket);
  return endpoint;
}

type Endpoint = Awaited<ReturnType<typeof addGone>>;

const stateOf = async ({ id }: Endpoint) =>
  given.database.db
    .selectFrom('journal_consumers as consumer')
    .innerJoin('webhook_endpoints as endpoint', (join) =>
      join.onRef('endpoint.shard_id', '=', 'consumer.shard_id').onRef('endpoint.id', '=', 'consumer.id'),
    )
    .select(['consumer.state', 'endpoint.disabled_reason as reason'])
    .where('consumer.id', '=', id)
    .executeTakeFirstOrThrow();
const isDisabled = (endpoint: Endpoint) =>
  waitUntil('it is disabled', async () => (await stateOf(endpoint)).state === 'disabled');
const noticeOf = (endpoint: Endpoint) => findNotice(given.database.db, endpoint);

test('its partner is to be told, and the log says which it was, without its URL', async () => {
  const endpoint = await addGone();
  const { log } = await deliver();
  await isDisabled(endpoint);
  expect(await noticeOf(endpoint)).toMatchObject({ state: 'queued', sentAt: null });
  await waitUntil('the log says so', () => log().includes('a webhook was disabled'));
  const lines = log()
    .split('\n')
    .filter((line) => line.includes('was disabled'));
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 40, webhook: endpoint.id, eventId: given.gala.eventId, reason: 'gone' },
  ]);
  expect(log()).not.toMatch(/s3cret-of-theirs|127\.0\.0\.1/);
});

test('where the notice cannot be written it is not given up either; both follow when it can', async () => {
  const endpoint = await addGone();
  await sql`alter table deliveries add constraint not_now check (state <> 'queued')`.execute(
    given.database.db,
  );
  const delivering = await deliver();
  await waitUntil('it was tried in vain', () => delivering.log().includes('a delivery failed'));
  expect(await stateOf(endpoint)).toEqual({ state: 'active', reason: null });
  expect(await noticeOf(endpoint)).toBeUndefined();
  expect(delivering.log()).not.toContain('a webhook was disabled');
  await sql`alter table deliveries drop constraint not_now`.execute(given.database.db);
  // Nobody waits for the lease.
  await passTime(given.database.db, given.gala.shardId, 60);
  await isDisabled(endpoint);
  expect(await noticeOf(endpoint)).toMatchObject({ state: 'queued' });
});

test('who was resumed while the last attempt was under way is not given up', async () => {
  const endpoint = await addGone();
  receiver.answerBy(
    (_, response) =>
      void changeWebhook(given.database.db, endpoint, 'resume')
        .then(() => receiver.accept())
        .then(() => response.writeHead(410).end()),
  );
  const { log } = await deliver();
  await waitUntil('it is told after all', async () => {
    const consumers = given.database.db.selectFrom('journal_consumers').select('last_offset');
    return (await consumers.where('id', '=', endpoint.id).executeTakeFirstOrThrow()).last_offset > 0;
  });
  expect(await stateOf(endpoint)).toEqual({ state: 'active', reason: null });
  expect(await noticeOf(endpoint)).toBeUndefined();
  expect(log()).not.toContain('a webhook was disabled');
});

test('of a test event nobody is told', async () => {
  const trial = await createFixture(given.database.db, 'allow', 'test');
  const endpoint = await addGone(trial, await trial.addTicket());
  const delivering = await deliverWebhooks(given.database.url, { allowPrivate: false });
  onTestFinished(() => delivering.close());
  await isDisabled(endpoint);
  expect(await stateOf(endpoint)).toMatchObject({ reason: 'test_event' });
  expect(await noticeOf(endpoint)).toBeUndefined();
  expect(delivering.log()).not.toContain('a webhook was disabled');
});
