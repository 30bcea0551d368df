export * from './expire-journal.ts';
export * from './read-journal.ts';
