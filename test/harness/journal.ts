import type { Database } from '@floodgate/database';
import { readJournal, type JournalEntry } from '@floodgate/journal';
import { confirmBatches } from '@floodgate/registrations';
import type { Fixture } from './fixture.ts';

/** Batches of a shard that are not finalized. */
export async function pendingBatches(db: Database, shardId: number) {
  const pending = db.selectFrom('batches').select('id').where('shard_id', '=', shardId);
  const batches = await pending.where('state', '=', 'pending').execute();
  return { shardId, batchIds: batches.map(({ id }) => id) };
}

/** Finalizes all of a shard that is pending, as a worker does. */
export async function finalizePending(db: Database, shardId: number): Promise<void> {
  await confirmBatches(db, await pendingBatches(db, shardId));
}

/** All that the journal tells of an event, in order. */
export async function journalOf(
  db: Database,
  { shardId, eventId }: Pick<Fixture, 'shardId' | 'eventId'>,
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let after = 0, more = true; more;) {
    const page = await readJournal(db, { shardId, eventId }, after, 10_000);
    if (typeof page === 'string') throw new Error(page);
    entries.push(...page.entries);
    ({ cursor: after, more } = page);
  }
  return entries;
}
