import { createHash } from 'node:crypto';
import { plainArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Identifies an address without containing it. Case makes no difference. */
export const digestOf = (address: string): string =>
  createHash('sha256').update(address.trim().toLowerCase()).digest('hex');

/** Returns which of these addresses get no more e-mails. */
export async function findSuppressed(db: Database, digests: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ digest: string }>`
    select digest from mail_suppressions where digest = any(${plainArray(digests)}::text[])`.execute(db);
  return new Set(rows.map(({ digest }) => digest));
}

/** Sends no further e-mails to an address. */
export async function suppress(
  db: Database,
  { eventId, ...refusal }: { digest: string; reason: string; eventId: number },
): Promise<void> {
  await db
    .insertInto('mail_suppressions')
    .values({ ...refusal, event_id: eventId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the addresses that get no more e-mails, the newest first. */
export async function listSuppressions(db: Database) {
  return db
    .selectFrom('mail_suppressions')
    .select(['digest', 'reason', 'event_id as eventId', 'at'])
    .orderBy('at', 'desc')
    .orderBy('digest')
    .execute();
}

/** Sends e-mails to an address again. Returns false if it was not suppressed. */
export async function liftSuppression(db: Database, digest: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('mail_suppressions')
    .where('digest', '=', digest)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
