import { median } from './statistics.ts';

/** The wanted range of a figure. */
export interface Bound {
  atLeast?: number;
  atMost?: number;
}

export const atLeast = (bound: number): Bound => ({ atLeast: bound });
export const atMost = (bound: number): Bound => ({ atMost: bound });

/** One measured quantity: a cell of a table in the report. */
export interface Figure {
  /** Title of the table. */
  table: string;
  /** What was measured, e.g. "naive". */
  row: string;
  /** The quantity with its unit, e.g. "p99 ms". */
  column: string;
  /** One value for each round. The bound applies to their median. */
  rounds: number[];
  bound?: Bound;
}

/** Values by column. Those that are undefined or NaN are not known, and are left out. */
export type Values = Record<string, number | undefined>;

/** Returns whether the median of the rounds is within the bound. */
export function isMet({ rounds, bound = {} }: Figure): boolean {
  const { atLeast: least = -Infinity, atMost: most = Infinity } = bound;
  const measured = median(rounds);
  return measured >= least && measured <= most;
}

/** Everything that a run of the benchmark has measured. */
export class Results {
  readonly figures: Figure[] = [];
  /** Runs that do not count, with the reason. */
  readonly discarded: string[] = [];
  /** An introduction for each table that has one. */
  readonly notes = new Map<string, string>();
  /** The columns of each table in their order. Some may have no figure. */
  readonly columns = new Map<string, Set<string>>();

  /** Adds a round of a row. */
  add(table: string, row: string, values: Values, bounds: Record<string, Bound> = {}): void {
    this.columns.set(table, new Set([...(this.columns.get(table) ?? []), ...Object.keys(values)]));
    for (const [column, value] of Object.entries(values)) {
      if (value === undefined || Number.isNaN(value)) continue;
      const bound = bounds[column];
      const known = this.figures.find(
        (one) => one.table === table && one.row === row && one.column === column,
      );
      if (known) known.rounds.push(value);
      else this.figures.push({ table, row, column, rounds: [value], ...(bound && { bound }) });
    }
  }

  discard(what: string, reason: string): void {
    this.discarded.push(`${what}: ${reason}`);
  }
}

/** Returns counts by response code as values, e.g. "answered 90". */
export const countsOf = (counts: Record<string, number>): Values =>
  Object.fromEntries(
    Object.entries(counts)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([code, count]) => [`answered ${code}`, count]),
  );
