import { Type } from '@sinclair/typebox';
import { defineAction, whole } from '@floodgate/audit';
import { UUID_PATTERN } from '@floodgate/contract';
import { Failure } from '@floodgate/service/failure';
import { redriveBatches } from './finalize/batch-statements.ts';

/** Gives failed batches another go, oldest first, or one of them. Its result are their ids. */
export const redriveAction = defineAction({
  name: 'batch.redrive',
  input: Type.Object({
    batchId: Type.Optional(Type.String({ pattern: UUID_PATTERN, description: 'a UUID' })),
    limit: whole(1, 100_000),
  }),
  run: async (transaction, selection, note) => {
    const batchIds = await redriveBatches(transaction, selection);
    if (selection.batchId && batchIds.length === 0) throw new Failure('no failed batch has this id');
    const change = { before: { state: 'failed' }, after: { state: 'pending' } };
    for (const id of batchIds) note(`batch:${id}`, change);
    return batchIds;
  },
});
