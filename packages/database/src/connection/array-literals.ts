/**
 * Columns of a batch as Postgres array literals, `{…}`. Written here rather than by the driver, which escapes
 * every element with two regular expressions: for a batch that is most of what the client spends on it.
 * A column that is null throughout becomes null: unnest pads it, and nobody has to parse a row of NULLs.
 */

const NEEDS_ESCAPE = /["\\]/;

/** Returns the literal of numbers, or of text that can hold nothing but digits, hex and hyphens. */
export function plainArray(values: readonly (number | string | null)[]): string | null {
  if (values.every((value) => value === null)) return null;
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Returns the literal of any text. */
export function textArray(values: readonly (string | null)[]): string | null {
  if (values.every((value) => value === null)) return null;
  return `{${values.map(quote).join(',')}}`;
}

function quote(value: string | null): string {
  if (value === null) return 'NULL';
  return NEEDS_ESCAPE.test(value) ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : `"${value}"`;
}
