export { commandLineOf } from './orphan.ts';
export { claimFreePort, startPostgres, type Exit, type PostgresServer } from './start-postgres.ts';
