import type { Database } from '@floodgate/database';

/** Returns whether pass references of another event begin as this one's do. */
export async function isPrefixShared(
  db: Database,
  { id, passPrefix }: { id: number; passPrefix: string },
): Promise<boolean> {
  const other = await db
    .selectFrom('events')
    .select('id')
    .where('pass_prefix', '=', passPrefix)
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
