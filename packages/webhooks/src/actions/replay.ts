import { Type } from '@sinclair/typebox';
import { WebhookPath } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { journalHead, retryConsumer, type ConsumerId } from '@floodgate/journal';
import { sql } from 'kysely';
import { updateEndpoint, type Owner } from '../endpoints.ts';
import { onWebhook } from './webhook-action.ts';

const RULE = 'a time with an offset';

/** Sends everything since a time again. */
export const replayWebhookAction = onWebhook({
  name: 'replay',
  input: Type.Object({ ...WebhookPath.properties, since: Type.String({ description: RULE }) }),
  // A leap second is a time, but JavaScript knows none.
  check: ({ since }) => (Number.isNaN(Date.parse(since)) ? { since: RULE } : {}),
  change: async (transaction, endpoint, { since }) => ({
    was: endpoint.cursor,
    cursor: await replayEndpoint(transaction, endpoint, new Date(since)),
  }),
  details: (_input, cursors) => cursors,
});

/** Moves an endpoint back to the first entry since then. Returns the cursor before it. */
export async function replayEndpoint(
  transaction: Database,
  { shardId, id, eventId, partnerId }: Owner & ConsumerId,
  since: Date,
): Promise<number> {
  const first = await transaction
    .selectFrom('journal_segments')
    .select(({ fn, ref }) => fn.min(sql<number>`${ref('last_offset')} - ${ref('count')}`).as('before'))
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('partner_id', 'in', [0, partnerId])
    .where('at', '>=', since)
    .executeTakeFirst();
  const cursor = first?.before ?? (await journalHead(transaction, shardId));
  await retryConsumer(transaction, { shardId, id }, { cursor, inFlightUntil: null });
  await updateEndpoint(transaction, { shardId, id })
    // Receivers drop messages whose id they know, so a replay needs new ids.
    .set(({ eb, ref }) => ({ chain_offset: cursor, replays: eb(ref('replays'), '+', 1) }))
    .execute();
  return cursor;
}
