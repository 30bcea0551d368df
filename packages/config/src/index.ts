export * from './load-config.ts';
export * from './log.ts';
export * from './shared-settings.ts';
