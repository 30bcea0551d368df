export * from './change-consumers.ts';
export * from './consumers.ts';
export * from './delivery-capability.ts';
export * from './lag.ts';
export * from './read-journal.ts';
