import { BYTE_ORDER_MARK, csvLines, EXPORT_FORMATS, SEPARATORS } from '@floodgate/registrations/export';

/** The formats of a report: the document of the operator API, or a table for a spreadsheet. */
export const REPORT_FORMATS = ['json', 'csv', 'excel'] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];
export type Separator = keyof typeof SEPARATORS;

interface CsvOptions {
  format: 'csv' | 'excel';
  separator?: Separator | undefined;
}

/**
 * Returns the rows of a report as a CSV file that a browser saves, with the names of the fields in the first line. The
 * values of these fields are texts, numbers, times or null.
 */
export function csvFile<Row extends object>(
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
  { format, separator = 'comma' }: CsvOptions,
) {
  const line = csvLines(SEPARATORS[separator]);
  const lines = rows.map((row) => line(columns.map((column) => cellOf(row[column]))));
  const text = `${format === 'excel' ? BYTE_ORDER_MARK : ''}${line(columns)}${lines.join('')}`;
  const headers = { 'content-type': EXPORT_FORMATS[format], 'content-disposition': 'attachment' };
  return new Response(text, { headers });
}

/** Throws if a field of a report is no cell, which is a mistake in its columns. */
function cellOf(value: unknown) {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value instanceof Date || value === null) return value;
  throw new TypeError('a field of a report is neither a text, a number, a time nor null');
}
