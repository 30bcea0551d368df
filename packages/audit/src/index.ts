export * from './actions.ts';
export {
  differencesOf,
  expirePartnerEntries,
  insertAuditEntries,
  readAuditLog,
  type AuditEntry,
} from './audit-log.ts';
