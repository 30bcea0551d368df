/** The output of a command. It is printed as text, or as one JSON document with --json. */
export interface Answer {
  text: string;
  /** Dates become ISO timestamps. */
  document: unknown;
  /** Set where the answer itself is bad news: printed after it, and the exit code is 1. */
  failure?: string;
}

type Cell = string | number | boolean | Date | null;

/** A table with a row of headings; numbers stand on the right. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '(none)';
  const cells = [headings, ...rows.map((row) => row.map(cellText))];
  const widths = headings.map((_, column) => longest(cells.map((row) => row[column]!)));
  const isNumeric = headings.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  const padded = (text: string, column: number) => {
    const space = ' '.repeat(widths[column]! - lengthOf(text));
    return isNumeric[column] ? space + text : text + space;
  };
  return cells.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}

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

/** A table of things that have the same fields. Their names are its headings: `openKeys` is shown as "open keys". */
export function tableOf(things: readonly Record<string, Cell>[]): string {
  const headings = Object.keys(things[0] ?? {}).map((name) => HEADINGS[name] ?? words(name, ' '));
  return table(headings, things.map(Object.values<Cell>));
}

/** Returns a name in camel case as words in lower case, with this between them. */
export const words = (name: string, between: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `${between}${letter.toLowerCase()}`);

/** One thing, a field a line. */
export function record(fields: Record<string, Cell>): string {
  const width = longest(Object.keys(fields));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`)
    .join('\n');
}

// Not Math.max(...): so many arguments as a table may have rows do not fit on the stack.
const longest = (texts: readonly string[]) =>
  texts.reduce((length, text) => Math.max(length, lengthOf(text)), 0);

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
