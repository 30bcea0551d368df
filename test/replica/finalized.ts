import type { Database } from '@floodgate/database';
import { confirmBatches, leaseDueBatches } from '@floodgate/registrations';
import { sql } from 'kysely';
import { attendee, type PartnerClient } from '../harness/partner-client.ts';

/** Finalizes all that is pending, as a worker does. */
export async function finalize(db: Database): Promise<void> {
  await sql`update batches set relay_at = now() where state = 'pending'`.execute(db);
  await confirmBatches(db, { shardId: 0, batchIds: await leaseDueBatches(db, 0, 100) });
}

/** Returns the pass references. */
export async function registerAndFinalize(
  db: Database,
  partner: PartnerClient,
  ticketId: number,
  count: number,
): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => partner.register(attendee(ticketId))),
  );
  await finalize(db);
  return answers.map(({ body }) => String(body.responseData));
}
