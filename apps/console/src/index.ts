export * from './config.ts';
export * from './start-console.ts';
