const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ETIMEDOUT: 'no answer',
  '28P01': 'user or password not accepted',
  '28000': 'user not accepted',
  '3D000': 'no such database',
  '42P01': 'its schema is missing, run floodgate migrate',
  '53300': 'too many connections',
  '57P03': 'starting up or shutting down',
};

/** Returns in a few words why a server cannot be reached. They hold no credentials. */
export function reasonOf(error: unknown): string {
  // A Redis Cluster's client wraps what its nodes said.
  const cause: unknown = error instanceof Error ? (Reflect.get(error, 'lastNodeError') ?? error) : error;
  if (!(cause instanceof Error)) return 'unknown reason';
  return (
    REASONS[String(Reflect.get(cause, 'code'))] ?? (withoutCredentials(cause.message) || 'unknown reason')
  );
}

/** Returns the text without user and password of the URLs that it quotes. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/:\/\/\S*@/g, '://…@');
}
