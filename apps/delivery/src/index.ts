export * from './config.ts';
export * from './start-delivery.ts';
