import { COLOURS } from '../chart.ts';
import { figure } from '../figures.ts';
import type { WorkloadSummary } from '../summary.ts';
import { describe, frame, lineName, marks, plotHeight, ranges, type Plot } from './plot.ts';

/** Plots Floodgate's rate divided by each contender's, by pairs of neighbouring runs. */
export function ratiosPlot(workloads: WorkloadSummary[]): Plot | undefined {
  const compared = workloads.filter((workload) => workload.rows.some((row) => row.ratio));
  const rows = compared.flatMap((workload) =>
    workload.rows.flatMap((row) =>
      row.ratio && row.ratio.min > 0
        ? [{ name: lineName(row, workload, compared.length > 1), ratio: row.ratio }]
        : [],
    ),
  );
  if (rows.length === 0) return undefined;
  const lines = rows.map(({ name, ratio }) => ({
    name,
    figure: `${figure(ratio.median)}×\n${figure(ratio.min)}–${figure(ratio.max)}`,
  }));
  const title = 'Floodgate’s rate ÷ contender’s rate';
  return {
    title,
    caption:
      'Median and range over pairs of neighbouring runs. Right of 1×, Floodgate is faster. ' +
      'The scale is logarithmic: each step to the right is twice as much.',
    alternative: describe(title, lines),
    height: plotHeight(rows.length),
    option: (width) =>
      frame({
        width,
        lines,
        unit: 'times the contender’s rate',
        xAxis: { type: 'log', logBase: 2, axisLabel: { formatter: (value: number) => `${value}×` } },
        series: [
          ranges(
            rows.map(({ ratio }, row) => ({
              row,
              from: ratio.min,
              to: ratio.max,
              colour: COLOURS.floodgate,
            })),
          ),
          {
            ...marks(
              'median',
              'circle',
              10,
              rows.map(({ ratio }, row) => ({ row, value: ratio.median, colour: COLOURS.floodgate })),
            ),
            markLine: {
              symbol: 'none',
              label: { show: false },
              lineStyle: { color: COLOURS.ink, type: 'dashed', width: 1 },
              data: [{ xAxis: 1 }],
            },
          },
        ],
      }),
  };
}
