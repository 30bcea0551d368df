import type { Database } from '@floodgate/database';
import { createJobRuns } from '@floodgate/jobs/run';
import { createLogger, systemClock } from '@floodgate/service';
import { sql } from 'kysely';
import { journalOf } from '../harness/journal.ts';
import type { Fixture } from '../harness/fixture.ts';

/** A clock whose timers fire at once: nothing is sold beside these jobs. */
const clock = { ...systemClock, setTimeout: (callback: () => void) => systemClock.setTimeout(callback, 0) };

/** Runs all jobs that are due to their end, as a worker does. Calls `onBatch` after each batch. */
export async function runJobs(db: Database, onBatch = () => {}): Promise<void> {
  const run = createJobRuns({ db, log: createLogger('worker', 'silent'), onBatch, clock });
  while ((await run()) === 'more');
}

/** Returns the states of registrations by serial: whether each is cancelled. */
export async function cancelledOf(
  db: Database,
  shardId: number,
  serials: readonly number[],
): Promise<boolean[]> {
  const { rows } = await sql<{ serial: number; cancelled: boolean }>`
    select serial, cancelled_at is not null as cancelled from registrations
    where shard_id = ${shardId} and serial = any(${serials}::bigint[])`.execute(db);
  const bySerial = new Map(rows.map(({ serial, cancelled }) => [serial, cancelled]));
  return serials.map((serial) => bySerial.get(serial)!);
}

/** Returns how often the journal lists the cancellation of each registration. */
export async function cancellationsOf(db: Database, fixture: Pick<Fixture, 'shardId' | 'eventId'>) {
  const counts = new Map<number, number>();
  for (const { kind, serial } of await journalOf(db, fixture))
    if (kind === 'cancelled') counts.set(serial!, (counts.get(serial!) ?? 0) + 1);
  return counts;
}
