import type { CheckoutComparison, Spread } from '../results.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figureWithRange } from './figures.ts';

/** Returns a table with a row for each workload. */
export function checkoutTable(comparisons: readonly CheckoutComparison[]): Table {
  const ratio = (title: string, pick: (one: CheckoutComparison) => Spread | undefined) =>
    right<CheckoutComparison>(title, (one) => {
      const picked = pick(one);
      return picked && figureWithRange(picked);
    });
  const columns = [
    left<CheckoutComparison>('workload', ({ workload }) => workload),
    right<CheckoutComparison>('pairs', ({ pairs }) => `${pairs}`),
    ratio('rate', ({ rate }) => rate),
    ratio('p50', ({ p50 }) => p50),
    ratio('p99', ({ p99 }) => p99),
    ratio('API CPU', ({ cpu }) => cpu.api),
    ratio('worker CPU', ({ cpu }) => cpu.worker),
    ratio('Postgres CPU', ({ cpu }) => cpu.postgres),
  ];
  return tableOf(
    'After ÷ before: medians of the pairs, with their range (CPU per answer)',
    columns,
    comparisons,
  );
}
