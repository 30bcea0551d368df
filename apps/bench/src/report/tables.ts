import { PARTS } from '../contenders/contender.ts';
import type { BenchResults, Figure, Outage, Overload, Run, Target } from '../results.ts';
import { checkoutTable } from './checkout-table.ts';
import { citusTables } from './citus-tables.ts';
import { left, right, tableOf, type Column, type Table } from './columns.ts';
import { fairnessTable } from './fairness-table.ts';
import { finalizationTable } from './finalization-table.ts';
import { countsText, figure, figureWithRange } from './figures.ts';
import { hostileTable } from './hostile-table.ts';
import { historyTable } from './history-table.ts';
import { spread } from './statistics.ts';
import { startTables } from './start-tables.ts';
import { type ByPart, type Row, type WorkloadSummary } from './summary.ts';
import { webhooksTable } from './webhooks-table.ts';

/** Returns the tables of special measurements. */
export function specialTables({
  overloads,
  outages,
  checkouts,
  starts,
  fairnesses,
  hostiles,
  finalizations,
  citus,
  histories,
  webhooks,
  figures,
}: BenchResults): Table[] {
  return [
    ...(overloads ? [overloadTable(overloads)] : []),
    ...(outages ? [outageTable(outages)] : []),
    ...(checkouts ? [checkoutTable(checkouts)] : []),
    ...(starts ? startTables(starts) : []),
    ...(fairnesses ? [fairnessTable(fairnesses)] : []),
    ...(hostiles ? [hostileTable(hostiles)] : []),
    ...(finalizations ? [finalizationTable(finalizations)] : []),
    ...(citus ? citusTables(citus) : []),
    ...(histories ? [historyTable(histories)] : []),
    ...(webhooks ? [webhooksTable(webhooks)] : []),
    ...(figures ? [figuresTable(figures)] : []),
  ];
}

/** Returns a table of rates and one of costs, because one table would be too wide for a terminal. */
export function workloadTables(workload: WorkloadSummary): Table[] {
  const who = [left<Row>('contender', (row) => row.contender), ...connectionsColumn(workload)];
  const tables = [
    { caption: 'Speed (medians, with the range over the runs)', key: who, columns: speedColumns(workload) },
    {
      caption: 'Price (CPU time per answer, and resident memory at the end of the load)',
      key: who,
      columns: [
        ...partColumns('µs', (row) => row.cpuMicros),
        ...partColumns('MiB', (row) => row.residentMiB),
      ],
    },
  ];
  return tables.flatMap(({ caption, key, columns }) => {
    const used = columns.filter(({ cell }) => workload.rows.some((row) => cell(row) !== undefined));
    return used.length === 0 ? [] : [tableOf(caption, [...key, ...used], workload.rows)];
  });
}

export function targetsTable(targets: Target[]): Table {
  const columns = [
    left<Target>('target', ({ name }) => name),
    right<Target>('wanted', ({ wanted, unit }) => `${wanted} ${unit}`.trim()),
    right<Target>('measured', ({ measured, unit }) => `${figure(measured)} ${unit}`.trim()),
    left<Target>('met', ({ met }) => (met ? 'yes' : 'no')),
  ];
  return tableOf('What Floodgate aims at, and whether this run shows it', columns, targets);
}

function figuresTable(figures: readonly Figure[]): Table {
  const columns = [
    left<Figure>('figure', ({ name }) => name),
    right<Figure>('rounds', ({ rounds }) => `${rounds.length}`),
    right<Figure>('measured', ({ rounds, unit }) => `${figureWithRange(spread(rounds))} ${unit}`.trim()),
  ];
  return tableOf('npm start: medians of the rounds, with their range', columns, figures);
}

function overloadTable(overloads: readonly Overload[]): Table {
  const columns = [
    left<Overload>('bottleneck', ({ bottleneck }) => bottleneck),
    right<Overload>('peak/s', ({ peakPerSecond }) => figure(peakPerSecond)),
    right<Overload>('scheduled/s', ({ offeredPerSecond }) => figure(offeredPerSecond)),
    right<Overload>('sent/s', ({ sentPerSecond }) => figure(sentPerSecond)),
    right<Overload>('accepted/s', ({ acceptedPerSecond }) => figure(acceptedPerSecond)),
    right<Overload>('sent late by p99 ms', ({ sendLagP99Ms }) => figure(sendLagP99Ms)),
    right<Overload>('00 p50 ms', ({ acceptedMs }) => figure(acceptedMs.p50)),
    right<Overload>('90 p50 ms', ({ refusedMs }) => figure(refusedMs.p50)),
    right<Overload>('90 p99 ms', ({ refusedMs }) => figure(refusedMs.p99)),
    right<Overload>('recovered after s', ({ recoverySeconds }) => figure(recoverySeconds)),
    right<Overload>('api MiB before, at most, after', ({ apiMiB }) => memoryText(apiMiB)),
    right<Overload>('generator, cores', ({ generatorCores }) => figure(generatorCores)),
    left<Overload>('answers during the overload', ({ answers }) => countsText(answers)),
    left<Overload>('books', ({ fault }) => fault || 'balance'),
  ];
  return tableOf('Three times the peak, arriving by a clock of its own', columns, overloads);
}

function outageTable(outages: readonly Outage[]): Table {
  const columns = [
    left<Outage>('away', ({ name }) => name),
    right<Outage>('seconds', ({ seconds }) => `${seconds}`),
    right<Outage>('load/s', ({ perSecond }) => figure(perSecond)),
    left<Outage>('answers', ({ answers }) => countsText(answers)),
    right<Outage>('slowest ms', ({ slowestMs }) => figure(slowestMs)),
    right<Outage>('lost', ({ lost }) => `${lost}`),
    right<Outage>('doubled', ({ doubled }) => `${doubled}`),
    right<Outage>('served after s', ({ servedAfterSeconds }) => figure(servedAfterSeconds)),
    right<Outage>('confirmed after s', ({ confirmedAfterSeconds }) => figure(confirmedAfterSeconds)),
    right<Outage>('api MiB before, at most, after', ({ apiMiB }) => memoryText(apiMiB)),
    left<Outage>('books', ({ fault }) => fault || 'balance'),
  ];
  return tableOf('A server crashes under load and comes back', columns, outages);
}

const memoryText = ({ before, max, after }: Overload['apiMiB']) =>
  [before, max, after].map(figure).join(', ');

/** Describes a discarded run, e.g. "peer-b, hot-ticket, 128 connections, round 2: 3 registrations lost". */
export function nameDiscarded(run: Run): string {
  return `${run.contender}, ${run.workload}, ${run.connections} connections, round ${run.round}: ${run.discarded}`;
}

function speedColumns({ rows }: WorkloadSummary): Column<Row>[] {
  const anyRegisters = rows.some((row) => row.registers);
  return [
    right('runs', ({ runs, discardedRuns }) =>
      discardedRuns === 0 ? `${runs}` : `${runs} of ${runs + discardedRuns}`,
    ),
    right(anyRegisters ? 'finalized/s' : 'answered/s', ({ rate, registers }) => {
      const note = anyRegisters && !registers ? ' answered' : '';
      return rate && `${figureWithRange(rate)}${note}`;
    }),
    right('Floodgate ÷ contender', ({ ratio }) => ratio && figureWithRange(ratio, '×')),
    right('p50 ms', ({ latencyMs }) => latencyMs && figure(latencyMs.p50)),
    right('p99 ms', ({ latencyMs }) => latencyMs && figure(latencyMs.p99)),
    right('finalized p99 ms', ({ waitP99Ms }) => (waitP99Ms === undefined ? undefined : figure(waitP99Ms))),
    right('not accepted', ({ refusedShare }) =>
      refusedShare === undefined ? undefined : `${figure(refusedShare * 100)} %`,
    ),
  ];
}

function connectionsColumn({ severalConnections }: WorkloadSummary): Column<Row>[] {
  return severalConnections ? [right('connections', (row) => `${row.connections}`)] : [];
}

function partColumns(unit: string, pick: (row: Row) => ByPart): Column<Row>[] {
  return ([...PARTS, 'total'] as const).map((part) =>
    right(`${part} ${unit}`, (row) => {
      const value = pick(row)[part];
      return value === undefined ? undefined : figure(value);
    }),
  );
}
