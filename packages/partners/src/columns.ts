/**
 * The columns of a table of partners after the id and the name, for the command line and the console. The
 * command line shows its help without loading the operations, so the list is in a file of its own.
 */
export const PARTNER_COLUMNS = [
  'contactEmail',
  'requestsPerSecond',
  'weight',
  'isHouse',
  'openKeys',
  'grantedEvents',
  'createdAt',
  'disabledAt',
] as const;
