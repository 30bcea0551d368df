import type { GivenApi } from '../harness/api-test.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee } from '../harness/partner-client.ts';

/** Registers somebody for the event of the running test. Resolves to the pass reference and the pass. */
export async function sell({ partner, ticketId, database, gala }: GivenApi) {
  const reference = (await partner.register(attendee(ticketId))).body.responseData as string;
  await finalizePending(database.db, gala.shardId);
  const { pass } = (await partner.pass(reference)).body.responseData as { pass: string };
  return { reference, pass };
}
