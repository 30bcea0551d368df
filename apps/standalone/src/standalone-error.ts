/** Something that whoever started Floodgate can act on. The message is one line, complete without a stack trace. */
export class StandaloneError extends Error {
  override name = 'StandaloneError';
}

/** The first line of what an error says, whatever was thrown. */
export function firstLine(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  // A connection that failed on each of several addresses is an AggregateError without a message.
  return String(message || code || error).split('\n')[0]!;
}
