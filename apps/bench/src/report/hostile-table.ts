import type { Hostile } from '../results.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figureWithRange } from './figures.ts';
import { spread } from './statistics.ts';

type Load = { name: string; rounds: readonly Hostile[] };

/** Returns a row for each kind of hostile requests, over all rounds. */
export function hostileTable(hostiles: readonly Hostile[]): Table {
  const of = (title: string, read: (one: Hostile) => number) =>
    right<Load>(title, ({ rounds }) => figureWithRange(spread(rounds.map(read))));
  const columns = [
    left<Load>('beside', ({ name }) => name),
    of('answered 00', ({ beside }) => beside.share),
    of('p99 ms, alone', ({ alone }) => alone.p99Ms),
    of('beside', ({ beside }) => beside.p99Ms),
    of('p99 ÷ alone', ({ alone, beside }) => beside.p99Ms / alone.p99Ms),
    of('longest ms, alone', ({ alone }) => alone.maxMs),
    of('beside', ({ beside }) => beside.maxMs),
    of('API memory + MiB', ({ addedMiB }) => addedMiB),
    of('hostile calls/s', ({ otherPerSecond }) => otherPerSecond),
    of('answered 200', ({ otherServed }) => otherServed),
  ];
  const loads = [...Map.groupBy(hostiles, ({ name }) => name)].map(([name, rounds]) => ({ name, rounds }));
  return tableOf('A partner of 200 calls a second beside a hostile one', columns, loads);
}
