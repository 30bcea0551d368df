import { isPostgresUrl } from '@floodgate/service/load-config';
import { FormatRegistry, Type } from '@sinclair/typebox';

FormatRegistry.Set('postgres-url', isPostgresUrl);

/** Where the API may read what can be a little outdated. */
export const replicaSettings = {
  DATABASE_REPLICA_URL: Type.Optional(
    Type.String({
      format: 'postgres-url',
      description:
        'a standby of the Postgres in DATABASE_URL, for Get Tickets and lists, postgres://user:password@host:port/database',
    }),
  ),
};

/** What every process that uses Postgres reads from its environment. */
export const databaseSettings = {
  DATABASE_URL: Type.String({
    format: 'postgres-url',
    description: 'Postgres, postgres://user:password@host:port/database',
  }),
};
