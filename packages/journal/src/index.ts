export * from './consumers.ts';
export * from './lag.ts';
export * from './read-journal.ts';
