export * from './actions.ts';
export { differencesOf, expirePartnerEntries, readAuditLog, type AuditEntry } from './audit-log.ts';
