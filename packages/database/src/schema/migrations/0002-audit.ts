import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_log (
      id bigint generated always as identity primary key,
      at timestamptz not null default now(),
      actor text not null,
      action text not null,
      subject text not null,
      before jsonb,
      after jsonb
    )`.execute(db);

  // Rows are added and read. The owner, as whom operators work, can neither change nor remove one by mistake, nor through
  // a fault in this code. It can on purpose: it may grant itself the right again, or drop the table. A superuser is not
  // asked at all. Who must not trust them copies the rows elsewhere.
  await sql`revoke update, delete, truncate on audit_log from current_user`.execute(db);
}
