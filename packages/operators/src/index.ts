export * from './access.ts';
export * from './actions.ts';
export * from './operations.ts';
export * from './processes.ts';
export * from './sign-in.ts';
