/** The output of a command. It is printed as text, or as one JSON document with --json. */
export interface Answer {
  text: string;
  /** Dates become ISO timestamps. */
  document: unknown;
  /** Set where the answer itself is bad news: printed after it, and the exit code is 1. */
  failure?: string;
}

type Cell = string | number | boolean | Date | null;

/** Headings that are not the words of the field. */
const HEADINGS: Record<string, string> = {
  partnerId: 'partner',
  contactEmail: 'contact',
  requestsPerSecond: 'requests/s',
  grantedEvents: 'events',
  createdAt: 'created',
  expiresAt: 'expires',
  lastUsedAt: 'last used within the hour from',
};

/**
 * A table of things that have the same fields; numbers stand on the right. Their names are its headings: `openKeys` is shown as
 * "open keys".
 */
export function tableOf(things: readonly Record<string, Cell>[]): string {
  if (things.length === 0) return '(none)';
  const names = Object.keys(things[0]!);
  const headings = names.map((name) => HEADINGS[name] ?? words(name, ' '));
  const isNumeric = names.map((name) => things.every((thing) => typeof thing[name] === 'number'));
  return aligned([headings, ...things.map((thing) => Object.values(thing).map(cellText))], isNumeric);
}

/** One thing, a field a line. */
export const record = (fields: Record<string, Cell>): string =>
  aligned(Object.entries(fields).map(([name, value]) => [name, cellText(value)]));

function aligned(rows: readonly (readonly string[])[], isNumeric: readonly boolean[] = []): string {
  const widthOf = (column: number) => rows.reduce((width, row) => Math.max(width, lengthOf(row[column]!)), 0);
  const widths = rows[0]!.map((_, column) => widthOf(column));
  const padded = (text: string, column: number) => {
    const space = ' '.repeat(widths[column]! - lengthOf(text));
    return isNumeric[column] ? space + text : text + space;
  };
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}

/** Returns a name in camel case as words in lower case, with this between them. */
export const words = (name: string, between: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `${between}${letter.toLowerCase()}`);

/** Length in Unicode characters, as Postgres counts it and closer to what a terminal shows. */
const lengthOf = (text: string) => Array.from(text).length;

/** An instant to the second, in UTC. */
export const timeText = (instant: Date) => instant.toISOString().replace(/\.\d+Z$/, 'Z');

function cellText(value: Cell): string {
  if (value === null) return '–';
  if (value instanceof Date) return timeText(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // Nothing from a table may steer the terminal.
  return String(value).replaceAll(/\p{Cc}/gu, '?');
}
