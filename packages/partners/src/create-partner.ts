import type { Database } from '@floodgate/database';

/** Creates a partner. Names are unique. */
export async function createPartner(db: Database, name: string) {
  return db
    .insertInto('partners')
    .values({ name })
    .returning(['id', 'name', 'created_at as createdAt'])
    .executeTakeFirstOrThrow();
}
