/**
 * The columns of a table of attempts, for the command line and the console. The command line shows its help
 * without loading the operations, so the list is in a file of its own.
 */
export const ATTEMPT_COLUMNS = [
  'messageId',
  'previousCursor',
  'cursor',
  'entries',
  'dateAttempted',
  'milliseconds',
  'outcome',
  'httpStatus',
  'error',
] as const;
