/** The columns of an event, under the names that it has here. */
export const EVENT_COLUMNS = [
  'id',
  'ref',
  'name',
  'pass_prefix as passPrefix',
  'duplicate_policy as duplicatePolicy',
  'created_at as createdAt',
] as const;
