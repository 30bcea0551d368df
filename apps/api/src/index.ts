export * from './config.ts';
export * from './start-api.ts';
