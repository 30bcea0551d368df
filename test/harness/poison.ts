import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Makes Postgres refuse every registration with the full name "Poison", like a row that it cannot store. */
export async function refusePoison(db: Database): Promise<void> {
  await sql`
    create function refuse_poison() returns trigger language plpgsql as
      $$ begin raise exception 'poison'; end $$`.execute(db);
  await sql`
    create trigger refuse_poison before insert on registrations for each row
    when (new.full_name = 'Poison') execute function refuse_poison()`.execute(db);
}

/** Makes Postgres refuse to confirm this batch, until its trigger "refuse" is dropped. */
export async function refuseToConfirm(db: Database, batchId: string, sqlState = 'P0001'): Promise<void> {
  await sql`
    create or replace function refuse() returns trigger language plpgsql as $$
      begin raise exception 'not now, %', new.id using errcode = ${sql.lit(sqlState)}; end $$`.execute(db);
  await sql`
    create trigger refuse before update on batches for each row
    when (new.state = 'confirmed' and new.id = ${sql.lit(batchId)}) execute function refuse()`.execute(db);
}
