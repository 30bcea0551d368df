import { PARTS } from '../../contenders/contender.ts';
import { COLOURS } from '../chart.ts';
import { compact, figure } from '../figures.ts';
import { type ByPart, type Row, type WorkloadSummary } from '../summary.ts';
import { describe, frame, lineName, plotHeight, type Plot } from './plot.ts';

/** CPU time per answer, by part. */
export function cpuPlot(workload: WorkloadSummary): Plot | undefined {
  return partsPlot(workload, {
    title: `CPU time per answer under ${workload.name}`,
    caption: 'Medians of what each part took, load and drain; at the right their total.',
    unit: 'µs',
    axis: 'CPU microseconds per answer',
    pick: (row) => row.cpuMicros,
  });
}

/** Resident memory, by part. */
export function memoryPlot(workload: WorkloadSummary): Plot | undefined {
  return partsPlot(workload, {
    title: `Resident memory under ${workload.name}`,
    caption: 'Medians of what each part held at the end of the load; at the right their total.',
    unit: 'MiB',
    axis: 'resident memory, MiB',
    pick: (row) => row.residentMiB,
  });
}

interface Measure {
  title: string;
  caption: string;
  unit: string;
  axis: string;
  pick: (row: Row) => ByPart;
}

function partsPlot(
  workload: WorkloadSummary,
  { title, caption, unit, axis, pick }: Measure,
): Plot | undefined {
  const rows = workload.rows.filter((row) => PARTS.some((part) => pick(row)[part] !== undefined));
  if (rows.length === 0) return undefined;
  const parts = PARTS.filter((part) => rows.some((row) => pick(row)[part] !== undefined));
  const lines = rows.map((row) => ({
    name: lineName(row, workload),
    figure: `${figure(pick(row).total ?? Number.NaN)} ${unit}`,
  }));
  return {
    title,
    caption,
    alternative: describe(title, lines),
    height: plotHeight(rows.length, true),
    option: (width) =>
      frame({
        width,
        lines,
        unit: axis,
        legend: parts,
        xAxis: { type: 'value', splitNumber: width < 500 ? 3 : 6, axisLabel: { formatter: compact } },
        series: parts.map((part) => ({
          name: part,
          type: 'bar',
          stack: 'parts',
          barWidth: 18,
          data: rows.map((row) => pick(row)[part] ?? '-'),
          itemStyle: { color: COLOURS[part] },
        })),
      }),
  };
}
