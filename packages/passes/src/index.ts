export * from './documents.ts';
export * from './pass.ts';
