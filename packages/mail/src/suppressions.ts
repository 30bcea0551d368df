import { textArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { Undelivered } from './failure-words.ts';

/** Returns why addresses get no e-mails at all, by address. Those that get them are left out. */
export async function findSuppressions(
  db: Database,
  addresses: readonly string[],
): Promise<Map<string, NonNullable<Undelivered['suppression']>>> {
  // Composing needs memory that the console does not need otherwise.
  const { digestOf } = await import('./kinds/refusals.ts');
  const digests = new Map(addresses.map((address) => [address, digestOf(address)]));
  const rows = await db
    .selectFrom('mail_suppressions')
    .select(['digest', 'reason', 'at'])
    .where('digest', '=', sql<string>`any(${textArray([...digests.values()])}::text[])`)
    .execute();
  const byDigest = new Map(rows.map((row) => [row.digest, row]));
  return new Map(
    [...digests].flatMap(([address, digest]) => {
      const suppression = byDigest.get(digest);
      return suppression ? [[address, suppression] as const] : [];
    }),
  );
}
