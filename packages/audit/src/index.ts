export * from './define-action.ts';
export * from './fields.ts';
export * from './perform.ts';
export * from './read-audit-log.ts';
