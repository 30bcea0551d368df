export * from './access.ts';
export * from './keys.ts';
export * from './partners.ts';
