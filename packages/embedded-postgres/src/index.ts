export * from './free-port.ts';
export { commandLineOf, isRunning } from './running-process.ts';
export { startPostgres, type Exit, type PostgresServer } from './start-postgres.ts';
