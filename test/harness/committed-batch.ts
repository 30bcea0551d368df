import { randomUUID } from 'node:crypto';
import { findRegistrations, reserveBatch, type RegistrationRow } from '@floodgate/registrations';
import { type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import type { Fixture } from './fixture.ts';
import { reservationOf } from './reservation.ts';
import { countLockWaiters, endLockWaiters } from './lock-waiters.ts';
import { waitUntil } from './wait-until.ts';
import { tablesOf } from './stored-tables.ts';

/** A committed batch with one registration that is not enqueued yet. */
export interface CommittedBatch {
  batchId: string;
  serial: number;
  /** The state that the partner sees. */
  state(): Promise<RegistrationRow['state']>;
  waitForState(state: RegistrationRow['state']): Promise<void>;
}

/** Commits a batch as the API does. `relayInSeconds`: time until it is overdue for the relay. */
export async function commitBatch(
  db: Database,
  fixture: Fixture,
  { relayInSeconds = 0 } = {},
): Promise<CommittedBatch> {
  const batchId = randomUUID();
  const [outcome] = await reserveBatch(db, batchId, [reservationOf(fixture, await fixture.addTicket())]);
  if (outcome?.kind !== 'registered') throw new Error('the batch did not commit');
  await sql`
    update batches set relay_at = now() + make_interval(secs => ${relayInSeconds})
    where id = ${batchId}`.execute(db);
  const { serial } = outcome;
  const { shardId, partnerId, eventId } = fixture;
  const state = async () =>
    (await findRegistrations(db, [{ shardId, serial, partnerId, eventId }]))[0]!.state;
  return {
    batchId,
    serial,
    state,
    waitForState: async (wanted) => {
      await waitUntil(`batch ${batchId} is ${wanted}`, async () => (await state()) === wanted);
    },
  };
}

/** A batch whose row is locked: every finalization of it waits. */
export interface HeldBatch {
  somebodyWaits(): Promise<void>;
  /** Ends the waiting statements: Postgres does not notice that their client is gone. */
  endWaiters(): Promise<void>;
  release(): Promise<void>;
}

export async function holdBatch(db: Database, batchId: string): Promise<HeldBatch> {
  const { shard_id } = await tablesOf(db)
    .selectFrom('batches')
    .select('shard_id')
    .where('id', '=', batchId)
    .executeTakeFirstOrThrow();
  const rival = await db.startTransaction().execute();
  await sql`select from batches where shard_id = ${shard_id} and id = ${batchId} for update`.execute(rival);
  let released: Promise<void> | undefined;
  const release = () => (released ??= rival.rollback().execute());
  onTestFinished(release);
  return {
    somebodyWaits: async () => {
      await waitUntil(`somebody waits for batch ${batchId}`, async () => (await countLockWaiters(db)) > 0);
    },
    endWaiters: () => endLockWaiters(db),
    release,
  };
}
