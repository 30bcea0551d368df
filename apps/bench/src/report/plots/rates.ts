import { compact, figure } from '../figures.ts';
import type { WorkloadSummary } from '../summary.ts';
import { contenderColour, describe, frame, lineName, marks, plotHeight, ranges, type Plot } from './plot.ts';

/** Plots the rate of each contender in each run. */
export function ratesPlot(workload: WorkloadSummary): Plot | undefined {
  const rows = workload.rows.filter((row) => row.rate && row.rate.min > 0);
  if (rows.length === 0) return undefined;
  const lines = rows.map((row) => ({
    name: lineName(row, workload),
    figure: `${figure(row.rate!.median)}/s${row.registers ? '' : '\nanswered'}`,
  }));
  const title = `Rate under ${workload.name}`;
  const unit = rows.some((row) => row.registers) ? 'registered and finalized' : 'answered';
  return {
    title,
    caption:
      'Each dot is a run; the bar among them, and the figure at the right, are the median. ' +
      'The scale is logarithmic: each step to the right is ten times as much.',
    alternative: describe(title, lines),
    height: plotHeight(rows.length),
    option: (width) =>
      frame({
        width,
        lines,
        unit: `${unit} per second`,
        xAxis: { type: 'log', axisLabel: { formatter: compact } },
        series: [
          ranges(
            rows.map(({ rate, ...row }, index) => ({
              row: index,
              from: rate!.min,
              to: rate!.max,
              colour: contenderColour(row),
            })),
          ),
          marks(
            'run',
            'circle',
            8,
            rows.flatMap((row, index) =>
              row.rates.map((value) => ({ row: index, value, colour: contenderColour(row) })),
            ),
            0.5,
          ),
          marks(
            'median',
            'rect',
            [3, 22],
            rows.map((row, index) => ({ row: index, value: row.rate!.median, colour: contenderColour(row) })),
          ),
        ],
      }),
  };
}
