import { figure, figureWithRange, median } from './statistics.ts';
import { isMet, type Figure, type Results } from './results.ts';

/** A table of text. The first column has names, the others have figures. */
export interface Table {
  title: string;
  note?: string | undefined;
  columns: string[];
  rows: string[][];
}

/** Returns a table for each title, and the table of the targets. */
export function tablesOf({ figures, notes, columns }: Results): Table[] {
  const tables = [...Map.groupBy(figures, ({ table }) => table)].map(([title, same]) => ({
    note: notes.get(title),
    ...tableOf(title, [...columns.get(title)!], same),
  }));
  const targets = figures.filter(({ bound }) => bound !== undefined);
  return targets.length === 0 ? tables : [...tables, targetsTable(targets)];
}

/** A table with a single row would be too wide, so it is turned. */
function tableOf(title: string, order: readonly string[], figures: readonly Figure[]): Table {
  const rows = [...new Set(figures.map(({ row }) => row))];
  const columns = order.filter((name) => figures.some(({ column }) => column === name));
  const cell = (row: string, column: string): string => {
    const found = figures.find((one) => one.row === row && one.column === column);
    return found ? figureWithRange(found.rounds) : '–';
  };
  if (rows.length === 1)
    return {
      title,
      columns: ['', rows[0]!],
      rows: columns.map((column) => [column, cell(rows[0]!, column)]),
    };
  return {
    title,
    columns: ['', ...columns],
    rows: rows.map((row) => [row, ...columns.map((column) => cell(row, column))]),
  };
}

function targetsTable(figures: readonly Figure[]): Table {
  return {
    title: 'Targets',
    columns: ['', 'wanted', 'measured', 'met'],
    rows: figures.map((one) => [
      `${one.table}, ${one.row}: ${one.column}`,
      boundText(one),
      figure(median(one.rounds)),
      isMet(one) ? 'yes' : 'no',
    ]),
  };
}

const boundText = ({ bound = {} }: Figure): string =>
  bound.atLeast === undefined
    ? `≤ ${bound.atMost?.toLocaleString('en-US')}`
    : `≥ ${bound.atLeast.toLocaleString('en-US')}`;
