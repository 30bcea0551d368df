import { randomUUID } from 'node:crypto';
import { distribute, migrate, type Database } from '@floodgate/database';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { CitusUnderTest, nodeOf } from '../faults/citus-under-test.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { withDatabase } from '../harness/database-url.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { startApiProcess } from '../harness/service-process.ts';
import { createServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { missingCitus } from '../servers/citus.ts';

// A node that does not answer holds up each read of its shards until that is given up. The reads of other shards go on.

const DATABASE = 'floodgate_test_silent_node';
const EVENTS_PER_NODE = 6;
/** Of reads of dead events: three for each of the two that are polled. */
const FAILURES = EVENTS_PER_NODE * 2 * 3;
const READS_BEFORE = 200;
const redisUrl = inject('redisUrl');
const missing = missingCitus() ?? (redisUrl === null ? 'no Redis' : null);

interface Sold {
  fixture: Fixture;
  client: PartnerClient;
  passReference: string;
}

describe.skipIf(missing !== null)(
  `while a node of a Citus cluster is frozen${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    let cluster: CitusUnderTest;
    let db: Database;
    let api: Awaited<ReturnType<typeof startApiProcess>>;
    let living: Sold[];
    let dead: Sold[];

    beforeAll(async () => {
      cluster = await CitusUnderTest.start(DATABASE);
      const url = withDatabase(cluster.coordinator.url(), DATABASE);
      db = connectInTest(url, 2);
      await migrate(db);
      await distribute(db);
      await createServiceRoles(db, url);
      await grantServiceRoles(db);
      const queue = { QUEUE_URL: redisUrl!, QUEUE_NAMESPACE: `silent${randomUUID().slice(0, 8)}` };
      api = await startApiProcess({ DATABASE_URL: url, PORT: '0', ...queue });
      [living, dead] = await sellOnBothNodes();
    });
    afterAll(async () => {
      await api?.end();
      await db?.destroy();
      await cluster?.[Symbol.asyncDispose]();
    });

    /** Events on each node, with a registration each. */
    async function sellOnBothNodes(): Promise<[Sold[], Sold[]]> {
      const byNode = cluster.nodes.map((): Sold[] => []);
      while (byNode.some(({ length }) => length < EVENTS_PER_NODE)) {
        const fixture = await createFixture(db);
        const client = new PartnerClient(api.baseUrl, fixture);
        const { body } = await client.register(attendee(await fixture.addTicket()));
        expect(body.responseCode).toBe('00');
        const node = (await nodeOf(db, cluster.nodes, fixture.shardId))!;
        byNode[cluster.nodes.indexOf(node)]!.push({
          fixture,
          client,
          passReference: body.responseData as string,
        });
      }
      return [byNode[1]!, byNode[0]!];
    }

    function freezeFirstNode(): () => void {
      const { server } = cluster.nodes[0]!;
      server.signal('SIGSTOP');
      const thaw = () => server.signal('SIGCONT');
      onTestFinished(thaw);
      return thaw;
    }

    const readsOf = ({ client, passReference }: Sold) => [
      () => client.tickets(),
      () => client.registration(passReference),
    ];

    async function ask(read: () => Promise<Answer>) {
      const askedAt = performance.now();
      const { body } = await read();
      return { code: body.responseCode, ms: performance.now() - askedAt };
    }

    /** Asks for all of it again and again until the test is over. Returns what was answered, as it comes. */
    function poll(sold: Sold[]) {
      const answers: Awaited<ReturnType<typeof ask>>[] = [];
      const over = new AbortController();
      const loops = sold.flatMap(readsOf).map(async (read) => {
        while (!over.signal.aborted) answers.push(await ask(read));
      });
      onTestFinished(async () => {
        over.abort();
        await Promise.all(loops);
      });
      return answers;
    }

    /** Reads what is living, one after the other. */
    async function readLivingWhile(goesOn: (reads: number) => boolean) {
      const answers: Awaited<ReturnType<typeof ask>>[] = [];
      for (let round = 0; goesOn(answers.length); round++)
        for (const read of readsOf(living[round % living.length]!)) answers.push(await ask(read));
      return answers;
    }

    /** Returns the time within which this share of the answers came. */
    const quantile = (answers: readonly { ms: number }[], share: number) =>
      answers.map(({ ms }) => ms).toSorted((one, other) => one - other)[Math.floor(answers.length * share)]!;

    test('reads of living events do not wait for those of dead ones, which fail by themselves', async () => {
      const before = await readLivingWhile((reads) => reads < READS_BEFORE);
      const thaw = freezeFirstNode();
      const ofDead = poll(dead);
      // Long enough for each of the dead to be given up several times.
      const ofLiving = await readLivingWhile(() => ofDead.length < FAILURES);
      expect(new Set(ofLiving.map(({ code }) => code))).toEqual(new Set(['00']));
      expect(new Set(ofDead.map(({ code }) => code))).toEqual(new Set(['90']));
      // The first reads of a dead event hold connections until they are known to be slow, and a few others
      // wait for these. What a read takes without them is the machine's.
      const added = quantile(ofLiving, 0.9) - quantile(before, 0.9);
      expect(added).toBeLessThan(quantile(ofDead, 0.5) / 4);
      thaw();
      await waitUntil('dead events are read again', () => ofDead.at(-1)!.code === '00');
    });
  },
);
