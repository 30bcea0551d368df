/**
 * Formats columns of a batch as Postgres array literals, `{…}`. The driver would escape every element with
 * two regular expressions, which is most of the client's CPU time for a batch. A column of only nulls becomes
 * null: unnest pads it, and Postgres has no list of NULLs to parse.
 */

const NEEDS_ESCAPE = /["\\]/;

/** Returns the array literal of numbers, or of text that contains only digits, hex digits and hyphens. */
export function plainArray(values: readonly (number | string | null)[]) {
  if (values.every((value) => value === null)) return null;
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Returns the array literal of any text. */
export function textArray(values: readonly (string | null)[]) {
  if (values.every((value) => value === null)) return null;
  return `{${values.map(quote).join(',')}}`;
}

function quote(value: string | null) {
  if (value === null) return 'NULL';
  return NEEDS_ESCAPE.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`;
}
