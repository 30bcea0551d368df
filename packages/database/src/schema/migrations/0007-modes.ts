import { sql, type Kysely } from 'kysely';

/** Keys and events are live, or for trying things out. What there is already is live. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['secret_keys', 'events']) {
    await sql`alter table ${sql.table(table)} add mode text not null default 'live'`.execute(db);
    // Apart and by name: what Citus has spread already takes it only so.
    await sql`
      alter table ${sql.table(table)}
        add constraint ${sql.ref(`${table}_mode_check`)} check (mode in ('live', 'test'))`.execute(db);
  }
}
