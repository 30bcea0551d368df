export { claimFreePort } from './free-port.ts';
export { commandLineOf } from './orphan.ts';
export { startPostgres, type Exit, type PostgresServer } from './start-postgres.ts';
