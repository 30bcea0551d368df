import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table feedback (
      id integer generated always as identity primary key,
      partner_id integer not null,
      event_id integer not null,
      text text not null,
      forwarded_at timestamptz
    )`.execute(db);
}
