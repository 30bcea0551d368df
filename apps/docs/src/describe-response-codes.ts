import { RESPONSE_CODES, type ResponseCodeEntry } from '@floodgate/contract';
import { table } from './table.ts';

/** Returns a table of the response codes as Markdown. */
export function describeResponseCodes(): string {
  const rows = Object.entries<ResponseCodeEntry>(RESPONSE_CODES)
    // JavaScript puts "10" before "00": keys that look like array indexes come first.
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([code, { httpStatuses, meaning, retryable }]) => [
      code,
      httpStatuses.join(', '),
      meaning,
      retryable ? 'yes' : 'no',
    ]);
  return table(['responseCode', 'HTTP', 'meaning', 'retry'], rows);
}
