export * from './count-requests.ts';
export * from './metrics.ts';
