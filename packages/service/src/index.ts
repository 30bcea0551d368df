export * from './failure.ts';
export * from './health-server.ts';
export * from './load-config.ts';
export * from './log.ts';
export * from './rounds.ts';
export * from './run-service.ts';
export * from './slots.ts';
export * from './timing.ts';
