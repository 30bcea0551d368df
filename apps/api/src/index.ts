export * from './build-api.ts';
export * from './config.ts';
export * from './start-api.ts';
