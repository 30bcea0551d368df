/** The output of a command: text, or one JSON document with --json. */
export interface Answer {
  text: string;
  /** Dates become ISO timestamps. */
  document: unknown;
  /** The document is one line with --json, because lines of JSON come before it. */
  isLine?: boolean;
  /** Set if the answer reports a problem: printed after the answer, and the exit code is 1. */
  failure?: string;
}

type Cell = string | number | boolean | Date | null;

/** Headings that differ from the words of the field. */
const HEADINGS: Record<string, string> = {
  partnerId: 'partner',
  contactEmail: 'contact',
  requestsPerSecond: 'requests/s',
  isHouse: "operator's own",
  grantedEvents: 'events',
  createdAt: 'created',
  expiresAt: 'expires',
  lastUsedAt: 'last used within the hour from',
};

/**
 * Returns a table of things with the same fields. Numbers are aligned right. The headings are the names of
 * the fields: "open keys" for `openKeys`.
 */
export function tableOf(things: readonly Record<string, Cell>[]) {
  if (things.length === 0) return '(none)';
  const names = Object.keys(things[0]!);
  const headings = names.map((name) => HEADINGS[name] ?? words(name, ' '));
  const isNumeric = names.map((name) => things.every((thing) => typeof thing[name] === 'number'));
  return aligned([headings, ...things.map((thing) => Object.values(thing).map(cellText))], isNumeric);
}

/** Returns a table of these fields of things. */
export const columnsOf = <Name extends string>(
  things: readonly Readonly<Record<Name, Cell>>[],
  names: readonly Name[],
) => tableOf(things.map((thing) => Object.fromEntries(names.map((name) => [name, thing[name]]))));

/** Returns a thing with one field per line. */
export const record = (fields: Record<string, Cell>) =>
  aligned(Object.entries(fields).map(([name, value]) => [name, cellText(value)]));

function aligned(rows: readonly (readonly string[])[], isNumeric: readonly boolean[] = []) {
  const widthOf = (column: number) => rows.reduce((width, row) => Math.max(width, lengthOf(row[column]!)), 0);
  const widths = rows[0]!.map((_, column) => widthOf(column));
  const padded = (text: string, column: number) => {
    const space = ' '.repeat(widths[column]! - lengthOf(text));
    return isNumeric[column] ? space + text : text + space;
  };
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}

/** Returns the words of a camel-case name in lower case, with `between` between them. */
export const words = (name: string, between: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `${between}${letter.toLowerCase()}`);

/** Length in Unicode characters, as in Postgres. A terminal shows about one column for each. */
const lengthOf = (text: string) => Array.from(text).length;

/** Returns an instant in UTC, to the second. */
export const timeText = (instant: Date) => instant.toISOString().replace(/\.\d+Z$/, 'Z');

function cellText(value: Cell) {
  if (value === null) return '–';
  if (value instanceof Date) return timeText(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // Stored text must not send control characters to the terminal.
  return String(value).replaceAll(/\p{Cc}/gu, '?');
}
