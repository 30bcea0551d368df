export * from './actions.ts';
export { readAuditLog } from './audit-log.ts';
