import { generateKeyPairSync } from 'node:crypto';
import { sql, type Kysely } from 'kysely';

/** What attendees are told of an event, and the keys that sign their passes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of [
    'starts_at timestamptz',
    'ends_at timestamptz',
    'venue text',
    'time_zone text',
    'reply_to text',
  ])
    await sql`alter table events add ${sql.raw(column)}`.execute(db);
  await sql`alter table events add language text not null default 'en'`.execute(db);

  // The newest that is not retired signs. A retired one is published further, so that what it signed stays valid, until it is
  // withdrawn.
  await sql`
    create table pass_keys (
      id integer primary key,
      private_key bytea not null,
      public_key bytea not null,
      created_at timestamptz not null default now(),
      retired_at timestamptz,
      withdrawn_at timestamptz
    )`.execute(db);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  await sql`
    insert into pass_keys (id, private_key, public_key) values (1, ${privateKey}, ${publicKey})`.execute(db);
}
