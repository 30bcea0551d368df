import { randomUUID } from 'node:crypto';
import { distribute, migrate, type Database, type Schema } from '@floodgate/database';
import {
  changeRegistrations,
  confirmBatches,
  deleteExpiredIdempotencyKeys,
  leaseDueBatches,
  reserveBatch,
} from '@floodgate/registrations';
import { deleteOldSegments } from '@floodgate/journal';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CitusUnderTest } from '../faults/citus-under-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { withDatabase } from '../harness/database-url.ts';
import { reservationOf } from '../harness/reservation.ts';
import { missingCitus } from '../servers/citus.ts';

// A transaction over two servers is committed in two phases: what is prepared on a server that is lost holds
// its locks until Citus has recovered it, a minute later.

const DATABASE = 'floodgate_one_phase';
const missing = missingCitus();

describe.skipIf(missing !== null)(
  `statements on a Citus cluster${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    const issued: Issued[] = [];
    let cluster: CitusUnderTest;
    let db: Database;
    let fixture: Fixture;
    let ticketId: number;

    beforeAll(async () => {
      cluster = await CitusUnderTest.start(DATABASE);
      db = connectTelling(withDatabase(cluster.coordinator.url(), DATABASE), issued);
      await migrate(db);
      await distribute(db);
      fixture = await createFixture(db);
      ticketId = await fixture.addTicket();
    });
    afterAll(async () => {
      await db?.destroy();
      await cluster?.[Symbol.asyncDispose]();
    });

    /** What the coordinator sends to other servers while `act` runs. */
    async function sentBy(act: () => Promise<unknown>): Promise<Issued[]> {
      issued.length = 0;
      await act();
      return [...issued];
    }

    test('creating a partner is committed in two phases, on all of them', async () => {
      const sent = await sentBy(() => createFixture(db));
      expect(new Set(sent.filter(isPrepared).map(({ server }) => server)).size).toBeGreaterThan(1);
    });

    test.each<[string, () => Promise<unknown>, unknown]>([
      ['reserving', () => reserve(), [expect.objectContaining({ kind: 'registered' })]],
      ['repeating', () => reserve({ isRepeat: true }), [expect.objectContaining({ kind: 'registered' })]],
      ['leasing', () => leaseDueBatches(db, fixture.shardId, 10), [BATCH]],
      ['confirming', () => change('confirmed'), ['confirmed']],
      ['cancelling', () => change('cancelled'), ['cancelled']],
      ['finalizing', () => confirmBatches(db, { shardId: fixture.shardId, batchIds: [BATCH] }), false],
      ['forgetting keys', () => deleteExpiredIdempotencyKeys(db, fixture.shardId, 10), 1],
      ['ending old segments', () => deleteOldSegments(db, fixture.shardId, 1, 10), 1],
    ])('%s reaches one server only, and is committed there at once', async (_what, act, expected) => {
      await makeAllOverdue();
      const sent = await sentBy(async () => expect(await act()).toEqual(expected));
      expect(new Set(sent.map(({ server }) => server)).size).toBe(1);
      expect(sent.filter(isPrepared)).toEqual([]);
    });

    const reserve = (options = {}) =>
      reserveBatch(
        db,
        BATCH,
        [reservationOf(fixture, ticketId, { idempotency: KEY, holdSeconds: 600 })],
        options,
      );

    /** Changes the registration that was reserved. */
    async function change(to: 'cancelled' | 'confirmed') {
      const { rows } = await sql<{ serial: number; passCode: number }>`
        select serial, pass_code as "passCode" from registrations
        where shard_id = ${fixture.shardId} and batch_id = ${BATCH}`.execute(db);
      const { eventId, partnerId, shardId } = fixture;
      return changeRegistrations(db, shardId, to, [{ ...rows[0]!, eventId, partnerId }]);
    }

    /** For the relay and for whatever expires. */
    async function makeAllOverdue(): Promise<void> {
      const { shardId } = fixture;
      await sql`update batches set relay_at = '2020-01-01' where shard_id = ${shardId}`.execute(db);
      await sql`update idempotency_keys set created_at = '2020-01-01' where shard_id = ${shardId}`.execute(
        db,
      );
      await sql`update journal_segments set at = '2020-01-01' where shard_id = ${shardId}`.execute(db);
    }
  },
);

const BATCH = randomUUID();
const KEY = { key: 'once', fingerprint: '0'.repeat(32) };

/** A statement that the coordinator has sent to another server. */
interface Issued {
  statement: string;
  server: string;
}

const isPrepared = ({ statement }: Issued) => statement.startsWith('PREPARE TRANSACTION');

/** A database that notes each statement which the coordinator sends to another server. */
// As the services read them.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

function connectTelling(connectionString: string, issued: Issued[]): Database {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    types,
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for it, whatever its types say
    onConnect: async (client) => {
      client.on('notice', ({ message = '', detail = '' }) => {
        const server = /on server (\S+)/.exec(detail)?.[1];
        if (server) issued.push({ statement: message.replace(/^issuing /, ''), server });
      });
      // The pool listens only while a connection is idle.
      client.on('error', () => {});
      await client.query('set citus.log_remote_commands = on');
    },
  });
  // A pool that ends does not wait until its connections have ended, and the cluster may end them first (57P01).
  pool.on('error', () => {});
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
