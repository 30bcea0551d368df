/** A UUID in its usual form, as a pattern for schemas. Lower case, as Postgres prints it. */
export const UUID_PATTERN = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const UUID = new RegExp(UUID_PATTERN, 'i');

/** Returns whether the value is a UUID, in either case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}
