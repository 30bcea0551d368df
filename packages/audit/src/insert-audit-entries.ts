import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import type { Change } from './define-action.ts';

/** Notes changes, one row each, in the transaction that makes them. */
export async function insertAuditEntries(
  transaction: Database,
  actor: string,
  action: string,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  await sql`
    insert into audit_log (actor, action, subject, before, after)
    select ${actor}, ${action}, subject, before, after
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (subject text, before jsonb, after jsonb)`.execute(
    transaction,
  );
}
