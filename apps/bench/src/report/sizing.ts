import { PARTS, type Part } from '../contenders/contender.ts';
import { floodgate } from '../contenders/floodgate.ts';
import type { BenchResults, Run } from '../results.ts';
import type { Table } from './columns.ts';
import { figure } from './figures.ts';
import { medianOf } from './statistics.ts';

const MICROS = 1_000_000;

/**
 * Returns the requirements of Floodgate, from its runs on a ticket that does not sell out, or null without such runs. The rate per core is
 * the inverse of the CPU time per registration, so it is valid if each part has a core.
 */
export function sizingTable({ runs }: BenchResults): Table | null {
  const counted = runs.filter(
    (run) => run.contender === floodgate.name && !run.discarded && run.finalizedPerSecond !== undefined,
  );
  const rows = [
    ...Map.groupBy(counted, ({ workload, connections }) => `${workload}, ${connections} connections`),
  ]
    .map(([name, same]) => [name, ...PARTS.map((part) => perCore(same, part)), ...diskPerMillion(same)])
    .filter((cells) => cells.slice(1).some((cell) => cell !== '–'));
  if (rows.length === 0) return null;
  const titles = [...PARTS.map((part) => `${part}: registrations/s per core`), 'database', 'log'];
  return {
    caption: 'Sizing: what one core of each part is good for, and MB on disk per million registrations',
    columns: [
      { title: 'workload', align: 'left' },
      ...titles.map((title) => ({ title, align: 'right' as const })),
    ],
    rows,
  };
}

function perCore(runs: Run[], part: Part): string {
  const micros = medianOf(runs.map((run) => run.cpuMicros?.[part]));
  return micros === undefined || micros === 0 ? '–' : figure(MICROS / micros);
}

/** Bytes per registration are megabytes per million registrations. */
function diskPerMillion(runs: Run[]): string[] {
  const bytes = [
    medianOf(runs.map((run) => run.diskBytes?.database)),
    medianOf(runs.map((run) => run.diskBytes?.log)),
  ];
  return bytes.map((value) => (value === undefined ? '–' : `${figure(value)} MB`));
}
