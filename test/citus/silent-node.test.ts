import { randomUUID } from 'node:crypto';
import { connect, distribute, migrate, type Database } from '@floodgate/database';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { CitusUnderTest, nodeOf } from '../faults/citus-under-test.ts';
import { withDatabase } from '../harness/database-url.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startApiProcess } from '../harness/service-process.ts';
import { createServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { missingCitus } from '../servers/citus.ts';

// A node that does not answer holds up each read of its shards until that is given up. The reads of other shards go on.

const DATABASE = 'floodgate_test_silent_node';
const EVENTS_PER_NODE = 6;
/** Of reads of dead events: three for each of the two that are polled. */
const FAILURES = EVENTS_PER_NODE * 2 * 3;
/** Of a read of a living event, whatever happens to the others. */
const WITHIN_MS = 1_000;

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
      db = connect({ connectionString: url, applicationName: 'tests', maxConnections: 2 });
      await migrate(db);
      await distribute(db);
      await createServiceRoles(db, url);
      await grantServiceRoles(db);
      const queue = { QUEUE_URL: redisUrl!, QUEUE_NAMESPACE: `silent${randomUUID().slice(0, 8)}` };
      api = await startApiProcess({ DATABASE_URL: url, PORT: '0', ...queue });
      [living, dead] = await sellOnBothNodes();
    }, 120_000);
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

    /** Asks for all of it again and again until the test is over. Returns what was answered, as it comes. */
    function poll(sold: Sold[]) {
      const codes: string[] = [];
      const over = new AbortController();
      const loops = sold.flatMap(readsOf).map(async (read) => {
        while (!over.signal.aborted) codes.push((await read()).body.responseCode);
      });
      onTestFinished(async () => {
        over.abort();
        await Promise.all(loops);
      });
      return codes;
    }

    test('reads of living events are as quick as ever, and those of dead ones fail by themselves', async () => {
      const thaw = freezeFirstNode();
      const codesOfDead = poll(dead);
      const answers: { code: string; ms: number }[] = [];
      // Long enough for each of the dead to be given up several times.
      for (let round = 0; codesOfDead.length < FAILURES; round++)
        for (const read of readsOf(living[round % living.length]!)) {
          const askedAt = performance.now();
          const { body } = await read();
          answers.push({ code: body.responseCode, ms: performance.now() - askedAt });
        }
      expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['00']));
      // Behind those of dead events all of them would wait.
      expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(WITHIN_MS);
      expect(new Set(codesOfDead)).toEqual(new Set(['90']));
      thaw();
      await waitUntil('dead events are read again', () => codesOfDead.at(-1) === '00');
    });
  },
);
