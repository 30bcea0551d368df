import type { Finalization } from '../results.ts';
import { costOf } from '../targets.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figure, figureWithRange } from './figures.ts';
import { spread } from './statistics.ts';

type Load = { name: string; rounds: readonly Finalization[] };

/** Returns a row for each load, over its rounds. */
export function finalizationTable(finalizations: readonly Finalization[]): Table {
  const of = (title: string, read: (one: Finalization) => number) =>
    right<Load>(title, ({ rounds }) => figureWithRange(spread(rounds.map(read))));
  const columns = [
    left<Load>('load', ({ name }) => name),
    of('registrations/s', ({ perSecond }) => perSecond),
    of('worker µs', ({ underLoad }) => underLoad.worker),
    of('Redis µs', ({ underLoad }) => underLoad.redis),
    of('Postgres µs, its share', ({ drained }) => drained.postgres),
    of('all µs', costOf),
    of('worker µs, drained', ({ drained }) => drained.worker),
    of('Redis µs, drained', ({ drained }) => drained.redis),
    right<Load>('segments', ({ rounds }) => figure(spread(rounds.map((one) => one.segments)).median)),
    right<Load>('journal bytes', ({ rounds }) =>
      figure(spread(rounds.map((one) => one.journalBytes)).median),
    ),
    left<Load>('books', ({ rounds }) => rounds.find(({ fault }) => fault !== '')?.fault ?? 'balance'),
  ];
  const loads = [...Map.groupBy(finalizations, ({ load }) => load)].map(([name, rounds]) => ({
    name,
    rounds,
  }));
  return tableOf('Finalization: CPU time, segments and their bytes per registration', columns, loads);
}
