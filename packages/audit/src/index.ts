export * from './actions.ts';
export { expirePartnerEntries, readAuditLog, type AuditEntry } from './audit-log.ts';
