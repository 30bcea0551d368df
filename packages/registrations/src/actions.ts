import { Type } from '@sinclair/typebox';
import { assertValid, defineAction, Id, perform, text, whole } from '@floodgate/audit';
import { UUID_PATTERN } from '@floodgate/contract';
import { askShards, awayText, shardIds, type Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { changeRegistrations } from './change/change-registrations.ts';
import { redriveBatches } from './finalize/backlog.ts';
import { findByPassReference } from './list/list-registrations.ts';

/** Cancels a registration, whosever it is and however late. */
export const cancelRegistrationAction = defineAction({
  name: 'registration.cancel',
  input: Type.Object({ passReference: text(1, 255) }),
  run: async (transaction, { passReference }, note) => {
    const { row, partnerId, shardId } = await findByPassReference(transaction, passReference);
    const { eventId, serial, passCode } = row;
    const wanted = { partnerId, eventId, serial, passCode };
    await changeRegistrations(transaction, shardId, 'cancelled', [wanted]);
    const wasCancelled = row.state === 'cancelled';
    // By its serial: with the rest of the reference somebody could use the pass.
    if (!wasCancelled)
      note(`registration:${serial}`, { before: { state: row.state }, after: { state: 'cancelled' } });
    return { passReference, wasCancelled };
  },
});

/** Redrives failed batches of a shard, the oldest first: all of them, those with these ids, or those of an event. Returns their ids. */
export const redriveAction = defineAction({
  name: 'batch.redrive',
  input: Type.Object({
    batchIds: Type.Optional(
      Type.Array(Type.String({ pattern: UUID_PATTERN }), { minItems: 1, description: 'UUIDs' }),
    ),
    eventId: Type.Optional(Id),
    shardId: whole(0, 2_147_483_647),
    limit: whole(1, 100_000),
  }),
  run: async (transaction, selection, note) => {
    const batchIds = await redriveBatches(transaction, selection);
    const change = { before: { state: 'failed' }, after: { state: 'pending' } };
    for (const id of batchIds) note(`batch:${id}`, change);
    return batchIds;
  },
});

/**
 * The same in all shards, each by itself: one that does not answer holds up none of the others. Returns which do not. Throws
 * InvalidInput before anything is sent to Postgres, and Failure where none of the batches that are wanted is found.
 */
export async function redriveShards(
  db: Database,
  { limit, ...selection }: { limit: number; batchIds?: string[]; eventId?: number },
  actor: string,
) {
  assertValid(redriveAction, { ...selection, shardId: 0, limit }, actor);
  let batchIds: string[] = [];
  const { away } = await askShards(await shardIds(db), async (shardId) => {
    const left = limit - batchIds.length;
    if (left === 0) return;
    const redriven = await perform(db, redriveAction, { ...selection, shardId, limit: left }, actor);
    batchIds = batchIds.concat(redriven);
  });
  if (selection.batchIds && batchIds.length === 0)
    throw new Failure(
      ['no failed batch has this id', ...(away.length > 0 ? [awayText(away)] : [])].join('; '),
    );
  return { batchIds, away };
}
