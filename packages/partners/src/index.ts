export * from './access.ts';
export * from './keys.ts';
export * from './partners.ts';
export { drawPermits } from './rate-limit.ts';
