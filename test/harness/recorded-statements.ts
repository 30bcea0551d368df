import type { Database } from '@floodgate/database';
import type { KyselyPlugin, RawNode } from 'kysely';

/** The database, with the text of every statement written down. */
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
