import type { Fairness } from '../results.ts';
import { p99Ratio } from '../targets.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figureWithRange } from './figures.ts';
import { spread } from './statistics.ts';

type Load = { name: string; rounds: readonly Fairness[] };

/** Returns a row for each kind of other load, over all rounds. */
export function fairnessTable(fairnesses: readonly Fairness[]): Table {
  const of = (title: string, read: (one: Fairness) => number) =>
    right<Load>(title, ({ rounds }) => figureWithRange(spread(rounds.map(read))));
  const columns = [
    left<Load>('beside', ({ name }) => name),
    of('peak/s', ({ peakPerSecond }) => peakPerSecond),
    of('asked/s', ({ perSecond }) => perSecond),
    of('answered 00, alone', ({ alone }) => alone.share),
    of('beside', ({ beside }) => beside.share),
    of('p50 ms, alone', ({ alone }) => alone.p50Ms),
    of('beside', ({ beside }) => beside.p50Ms),
    of('p99 ms, alone', ({ alone }) => alone.p99Ms),
    of('beside', ({ beside }) => beside.p99Ms),
    of('p99 ÷ alone', p99Ratio),
    of('the other: calls/s', ({ otherPerSecond }) => otherPerSecond),
    of('answered 00', ({ otherServed }) => otherServed),
    left<Load>('books', ({ rounds }) => rounds.find(({ fault }) => fault !== '')?.fault ?? 'balance'),
  ];
  const loads = [...Map.groupBy(fairnesses, ({ name }) => name)].map(([name, rounds]) => ({ name, rounds }));
  return tableOf('A partner beside another one who takes all there is', columns, loads);
}
