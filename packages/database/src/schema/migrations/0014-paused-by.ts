import { sql, type Kysely } from 'kysely';

/** Who paused a webhook: its partner cannot resume what an operator paused. Null: it is not paused, or was before this migration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_endpoints add column if not exists paused_by text`.execute(db);
}
