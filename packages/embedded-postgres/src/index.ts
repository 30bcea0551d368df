export * from './embedded-postgres-error.ts';
export * from './free-port.ts';
export * from './running-process.ts';
export type { Exit, PostgresServer } from './server.ts';
export * from './start-postgres.ts';
