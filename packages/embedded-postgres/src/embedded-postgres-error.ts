/** Why Postgres does not start or stop, in one line that is complete without a stack trace. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}
