export * from './consumers/consumers.ts';
export * from './consumers/lag.ts';
export * from './consumers/run-consumers.ts';
export * from './read-journal.ts';
