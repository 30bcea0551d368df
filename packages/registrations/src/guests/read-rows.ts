import { CsvError, parse } from 'csv-parse/sync';
import { badList } from './decode-guest-list.ts';

/** The most rows of a guest list, without the header. */
export const GUEST_LIST_ROWS = 20_000;

/** A row of a file. */
export interface Row {
  /** Where it begins. A cell in quotes can have several lines. */
  line: number;
  cells: string[];
}

/** The header of a file, and its rows. Rows without any text are left out. */
export interface Rows {
  header: string[];
  rows: Row[];
}

const PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a cell in quotes continues after its closing quote',
};

/**
 * Returns the rows of a CSV text, each with the number of its first line. The separator is that of the header.
 * Throws InvalidInput if the text is not CSV, or has no or too many rows.
 */
export function readRows(text: string): Rows {
  const [header, ...rows] = parseRecords(text.replace(/^\uFEFF/, '')).filter(({ cells }) =>
    cells.some((cell) => cell !== ''),
  );
  if (!header) throw badList('the file is empty; its first row names the columns');
  if (rows.length > GUEST_LIST_ROWS)
    throw badList(`the file has ${rows.length} rows, and at most ${GUEST_LIST_ROWS} are allowed; divide it`);
  return { header: header.cells, rows };
}

function parseRecords(text: string): Row[] {
  const bytes = Buffer.from(text);
  const rows: Row[] = [];
  let [line, start] = [1, 0];
  const options = {
    delimiter: separatorOf(text),
    relax_column_count: true,
    relax_quotes: true,
    // Its own count of lines is wrong after an empty line in a file with \r\n.
    on_record: (cells: string[], { bytes: end }: { bytes: number }) => {
      rows.push({ line, cells: cells.map((cell) => cell.trim()) });
      line += bytes.toString('utf8', start, end).match(LINE_BREAK)?.length ?? 0;
      start = end;
      return null;
    },
  };
  try {
    parse(bytes, options);
    return rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw badList(`line ${line}: ${PROBLEMS[error.code] ?? 'it is not CSV'}`);
  }
}

const LINE_BREAK = /\r\n|\n|\r/g;

const SEPARATORS = [',', ';', '\t'];

/** Returns the separator that the first line has most often outside quotes. */
function separatorOf(text: string) {
  const [first = ''] = text.trimStart().split(/[\r\n]/, 1);
  const unquoted = first.replaceAll(/"[^"]*"/g, '');
  const count = (separator: string) => unquoted.split(separator).length;
  return SEPARATORS.reduce((best, other) => (count(other) > count(best) ? other : best));
}
