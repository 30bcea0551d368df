export * from './actions.ts';
export { expirePartnerEntries, readAuditLog } from './audit-log.ts';
