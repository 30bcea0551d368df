/** The API or the worker found a wrong variable in its environment and has named it already. */
export class ConfigRefused extends Error {}

/** The first line of what an error says, whatever was thrown. */
export function firstLine(error: unknown): string {
  // A connection that failed on each of several addresses is an AggregateError without a message.
  if (error instanceof AggregateError) return error.errors.map(firstLine).join(', ');
  const text = (error instanceof Error && error.message) || String(error);
  return text.split('\n')[0]!;
}
