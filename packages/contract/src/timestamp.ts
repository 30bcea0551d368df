import { Type } from '@sinclair/typebox';

/** An instant with fractional seconds and an explicit offset, e.g. 2026-11-21T09:00:00.123+00:00. */
export const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-21T09:00:00.123+00:00'] });

/** An instant in the form that partners were promised. Precision: milliseconds, always UTC. */
export function formatTimestamp(instant: Date): string {
  return instant.toISOString().replace('Z', '+00:00');
}
