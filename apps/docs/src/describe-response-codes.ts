import { RESPONSE_CODES, type ResponseCodeEntry } from '@floodgate/contract';
import { table } from './table.ts';

/**
 * Returns the response codes as Markdown: a table of all, and a section for each with its meaning, where the
 * message does not say all, and what to do.
 */
export function describeResponseCodes(): string {
  const codes = Object.entries<ResponseCodeEntry>(RESPONSE_CODES)
    // JavaScript puts "10" before "00": keys that look like array indexes come first.
    .toSorted(([a], [b]) => a.localeCompare(b));
  const rows = codes.map(([code, { httpStatuses, message }]) => [
    `[${code}](#code-${code})`,
    httpStatuses.join(', '),
    message,
  ]);
  const sections = codes.map(([code, entry]) => describeCode(code, entry));
  return [table(['code', 'HTTP', 'message'], rows), ...sections].join('\n');
}

function describeCode(code: string, { message, meaning, remedy }: ResponseCodeEntry): string {
  const more = meaning.replace(/\.$/, '') === message ? [] : [meaning];
  return `${[`## Code ${code}`, ...more, `**What to do.** ${remedy}`].join('\n\n')}\n`;
}
