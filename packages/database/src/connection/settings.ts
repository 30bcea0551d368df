import { isPostgresUrl } from '@floodgate/service/load-config';
import { FormatRegistry, Type } from '@sinclair/typebox';

FormatRegistry.Set('postgres-url', isPostgresUrl);

/** The settings of every process that uses Postgres. */
export const databaseSettings = {
  DATABASE_URL: Type.String({
    format: 'postgres-url',
    description: 'Postgres, postgres://user:password@host:port/database',
  }),
};
