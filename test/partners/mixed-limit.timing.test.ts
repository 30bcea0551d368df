import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { limitPartner } from '@floodgate/partners';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startApiProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'what other files left would change what is measured' });

// A rate limit under single calls and bulk calls at the same time. MEASURE_LIMIT says for how many seconds;
// then the figures are printed.

const SECONDS = Number(process.env['MEASURE_LIMIT'] ?? 4);
const LIMIT = 100;
const BULK_SIZES = [2, 5, 20, 30];

/** Permits by the second of the clock that Postgres and this process share. */
class PerSecond {
  readonly #permits = new Map<number, number>();

  add(atMs: number, permits: number): void {
    const second = Math.floor(atMs / 1_000);
    this.#permits.set(second, (this.#permits.get(second) ?? 0) + permits);
  }

  /** Of whole seconds only. */
  within(fromMs: number, toMs: number): number[] {
    return [...this.#permits]
      .filter(([s]) => s * 1_000 >= fromMs && (s + 1) * 1_000 <= toMs)
      .map(([, n]) => n);
  }
}

const sizeOf = (registrations: unknown[]) => JSON.stringify({ registrations, mode: 'each' }).length;

test.each([1, 2, 3])(
  'single and bulk calls at %i APIs together use the limit and never exceed it',
  { timeout: SECONDS * 1_000 + 60_000 },
  async (count) => {
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url };
    const apis = await Promise.all(Array.from({ length: count }, () => startApiProcess(env)));
    onTestFinished(async () => void (await Promise.all(apis.map((api) => api.end()))));
    const partner = await createFixture(given.database.db);
    const ticketId = await partner.addTicket({ capacity: 1_000_000 });
    await limitPartner(given.database.db, partner.partnerId, LIMIT);
    const clients = apis.map((api) => new PartnerClient(api.baseUrl, partner));
    for (const client of clients)
      await waitUntil('the limit is known', async () => (await client.tickets()).headers.has('ratelimit'));

    const admitted = new PerSecond();
    let heads = 0;
    const startedAt = Date.now();
    const endsAt = startedAt + SECONDS * 1_000;
    const work = async (client: PartnerClient, size: number) => {
      while (Date.now() < endsAt) {
        const sentAt = Date.now();
        const people = Array.from({ length: size }, () => attendee(ticketId));
        const { status, body } = await (size === 1
          ? client.register(people[0])
          : client.registerBulk(people));
        const isInOneSecond = Math.floor(sentAt / 1_000) === Math.floor(Date.now() / 1_000);
        if (status === 200 && isInOneSecond) admitted.add(sentAt, size);
        // Its head counted, and only then was the number of its registrations too large.
        if (body.responseMessage.endsWith(`counts as ${size}`)) heads += Math.ceil(sizeOf(people) / 4_096);
      }
    };
    await Promise.all(
      clients.flatMap((client) => [1, 1, 1, 1, ...BULK_SIZES].map((size) => work(client, size))),
    );

    expect(Math.max(...admitted.within(0, Infinity))).toBeLessThanOrEqual(LIMIT);
    const { rows } = await sql<{ second: number; count: number }>`
      select floor(extract(epoch from batches.created_at))::float8 as second, count(*)::integer as count
      from registrations join batches on batches.shard_id = registrations.shard_id and batches.id = batch_id
      where registrations.event_id = ${partner.eventId} group by 1`.execute(given.database.db);
    const stored = new PerSecond();
    for (const row of rows) stored.add(row.second * 1_000, row.count);
    const counts = stored.within(startedAt, endsAt);
    const used = (counts.reduce((sum, n) => sum + n, 0) + heads * (counts.length / SECONDS)) / counts.length;
    expect(used).toBeGreaterThanOrEqual(0.8 * LIMIT);
    if (process.env['MEASURE_LIMIT'])
      process.stdout.write(
        `${count} APIs, limit ${LIMIT}: used per second of Postgres's clock: ${used.toFixed(1)}; registrations: least ` +
          `${Math.min(...counts)}, most ${Math.max(...counts)}, in ${counts.length} seconds\n`,
      );
  },
);
