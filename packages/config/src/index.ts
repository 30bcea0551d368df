export * from './load-config.ts';
export * from './log.ts';
export * from './run-service.ts';
export * from './shared-settings.ts';
