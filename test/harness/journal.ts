import type { Database } from '@floodgate/database';
import { readJournal, type JournalEntry } from '@floodgate/journal';
import { confirmBatches } from '@floodgate/registrations';
import type { Fixture } from './fixture.ts';
import { tablesOf } from './stored-tables.ts';

/** Returns the batches of a shard that are not finalized. */
export async function pendingBatches(db: Database, shardId: number) {
  const pending = tablesOf(db).selectFrom('batches').select('id').where('shard_id', '=', shardId);
  const batches = await pending.where('state', '=', 'pending').execute();
  return { shardId, batchIds: batches.map(({ id }) => id) };
}

/** Finalizes the pending batches of a shard and publishes its changes, as a worker does. */
export async function finalizePending(db: Database, shardId: number): Promise<void> {
  const batches = await pendingBatches(db, shardId);
  while (await confirmBatches(db, batches));
}

/** Returns whether a shard has no pending batches and no changes. */
export async function isOutboxEmpty(db: Database, shardId: number): Promise<boolean> {
  const changes = tablesOf(db).selectFrom('changes').select('id').where('shard_id', '=', shardId).limit(1);
  return (await changes.execute()).length + (await pendingBatches(db, shardId)).batchIds.length === 0;
}

/** Returns all journal entries of an event in order. */
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
