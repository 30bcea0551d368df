export * from './deadline.ts';
export * from './load-config.ts';
export * from './log.ts';
export * from './postgres-url.ts';
export * from './process-settings.ts';
export * from './repeat.ts';
export * from './run-service.ts';
export * from './throttled-log.ts';
