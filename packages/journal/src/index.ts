export * from './expire-journal.ts';
export * from './read-journal.ts';
export type { JournalScope } from './select-segments.ts';
