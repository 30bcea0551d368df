import type { History } from '../results.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figure } from './figures.ts';

const FINDS = { ofEventMs: 'found in an event', ofAllMs: 'found in all', pageMs: 'page of attendees' };

export function historyTable(histories: readonly History[]): Table {
  const perEntry = (title: string, read: (one: History) => number) =>
    right<History>(title, (one) => figure(read(one) / one.reads.returned));
  const columns = [
    left<History>('history', ({ name }) => name),
    right<History>('registrations', ({ registrations }) => figure(registrations)),
    right<History>('segments each', ({ segments }) => figure(segments)),
    right<History>('journal bytes each', ({ journalBytes }) => figure(journalBytes)),
    right<History>('entries in a page', ({ pageSize }) => `${pageSize}`),
    right<History>(
      'first page ms p50, p99',
      ({ firstPageMs: { p50, p99 } }) => `${figure(p50)}, ${figure(p99)}`,
    ),
    right<History>('any page ms p50, p99', ({ anyPageMs: { p50, p99 } }) => `${figure(p50)}, ${figure(p99)}`),
    right<History>('any ÷ first', ({ anyPageMs, firstPageMs }) => figure(anyPageMs.p50 / firstPageMs.p50)),
    perEntry('journal rows read for an entry', ({ reads }) => reads.segments),
    perEntry('registrations read', ({ reads }) => reads.registrations),
    perEntry('bytes of pages read', ({ reads }) => reads.bytes),
    right<History>('attendees indexed/s', ({ finds }) => figure(finds.indexedPerSecond)),
    ...(['ofEventMs', 'ofAllMs', 'pageMs'] as const).map((name) =>
      right<History>(
        `${FINDS[name]} ms p50, p99`,
        ({ finds }) => `${figure(finds[name].p50)}, ${figure(finds[name].p99)}`,
      ),
    ),
    right<History>('exported s, MiB', ({ exported }) =>
      exported ? `${figure(exported.seconds)}, ${figure(exported.peakMiB)}` : '',
    ),
  ];
  return tableOf('Lists out of a long history: one partner of them all', columns, histories);
}
