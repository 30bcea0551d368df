import type { Database } from '@floodgate/database';
import type { KyselyPlugin, RawNode } from 'kysely';

/** Returns the database, which records the text of every statement. */
export function recording(db: Database, statements: string[]): Database {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements.push((node as RawNode).sqlFragments.join('?'));
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  return db.withPlugin(plugin);
}
