import { sql } from 'kysely';
import { describe, expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startApiProcess, startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand } from '../servers/redis.ts';
import { startRedisCluster } from '../servers/redis-cluster.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const missing = redisServerCommand() ? '' : ' (no redis-server or valkey-server on the PATH)';
const SHARDS = [0, 1, 2, 3, 4, 5, 6, 8];
const REGISTRATIONS_AFTERWARDS = 40;

describe.skipIf(missing)(`API and worker on a Redis Cluster${missing}`, () => {
  // What the lost master had not yet given to its replica, the relay finds.
  test('registrations in all shards are confirmed, whatever master is lost meanwhile', async () => {
    const cluster = await startRedisCluster();
    onTestFinished(() => cluster[Symbol.asyncDispose]());
    for (const id of SHARDS.slice(1)) {
      await sql`insert into shards (id) values (${id})`.execute(given.database.db);
      await sql`insert into journal_heads (shard_id) values (${id})`.execute(given.database.db);
    }
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: cluster.url };
    const api = await startApiProcess(env);
    const worker = await startWorkerProcess(env);
    onTestFinished(async () => void (await Promise.all([api, worker].map(({ end }) => end('SIGKILL')))));
    const buyers: { partner: PartnerClient; ticketId: number; shardId: number }[] = [];
    for (const _ of SHARDS) {
      const fixture: Fixture = await createFixture(given.database.db);
      const partner = new PartnerClient(api.baseUrl, fixture);
      buyers.push({
        partner,
        ticketId: await fixture.addTicket({ capacity: 100_000 }),
        shardId: fixture.shardId,
      });
    }
    expect(new Set(buyers.map(({ shardId }) => shardId))).toEqual(new Set(SHARDS));

    let registered = 0;
    const registerInAll = async () => {
      const all = await Promise.all(
        buyers.map(({ partner, ticketId }) => partner.register(attendee(ticketId))),
      );
      expect(new Set(all.map(({ body }) => body.responseCode))).toEqual(new Set(['00']));
      registered += all.length;
    };
    const areAllConfirmed = async () => {
      const { rows } = await sql<{ state: string; count: number }>`
        select batches.state, count(*)::integer as count
        from registrations join batches
          on batches.shard_id = registrations.shard_id and batches.id = registrations.batch_id
        group by batches.state`.execute(given.database.db);
      return rows.length === 1 && rows[0]!.state === 'confirmed' && rows[0]!.count === registered;
    };
    await registerInAll();
    await waitUntil('all are confirmed', areAllConfirmed);

    const over = new AbortController();
    const failover = cluster.loseBusiestMaster().finally(() => over.abort());
    while (!over.signal.aborted) await registerInAll();
    await failover;
    await waitUntil('what was reserved meanwhile is confirmed', areAllConfirmed);
    for (let round = 0; round < REGISTRATIONS_AFTERWARDS; round += SHARDS.length) await registerInAll();
    await waitUntil('what was reserved afterwards is confirmed', areAllConfirmed);
  });
});
