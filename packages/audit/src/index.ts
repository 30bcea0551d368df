export * from './actions.ts';
export { nameSubjects, type NamedSubject } from './subject-names.ts';
export {
  CURSOR_PATTERN,
  differencesOf,
  expirePartnerEntries,
  insertAuditEntries,
  readAuditLog,
  type AuditEntry,
} from './audit-log.ts';
