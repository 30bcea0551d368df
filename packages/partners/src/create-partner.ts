import type { Database } from '@floodgate/database';

export interface Partner {
  id: number;
  name: string;
  createdAt: Date;
}

/** Creates a partner. Names are unique. */
export async function createPartner(db: Database, name: string): Promise<Partner> {
  return db
    .insertInto('partners')
    .values({ name })
    .returning(['id', 'name', 'created_at as createdAt'])
    .executeTakeFirstOrThrow();
}
