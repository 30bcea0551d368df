import { sql, type Kysely } from 'kysely';

/** Partners are told when a webhook of theirs was given up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table partners add contact_email text`.execute(db);

  // The id is that of the endpoint: the newest notice of each is kept. "message_id" names this one, however often it is sent.
  // "sent_at" outlives it, so that an endpoint that is resumed and given up again and again is no way to send many e-mails.
  await sql`
    create table webhook_notices (
      shard_id integer not null,
      id uuid not null,
      message_id uuid not null,
      failing_since timestamptz,
      given_up_at timestamptz not null default now(),
      state text not null default 'waiting' constraint webhook_notices_state_check check (state in ('waiting', 'sent', 'undeliverable', 'skipped')),
      reason text,
      attempts integer not null default 0,
      next_at timestamptz not null default now(),
      sent_at timestamptz,
      primary key (shard_id, id)
    )`.execute(db);
  await sql`
    create index webhook_notices_due on webhook_notices (shard_id, next_at) where state = 'waiting'`.execute(
    db,
  );
}
