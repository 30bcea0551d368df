import { figure } from '../figures.ts';
import type { WorkloadSummary } from '../summary.ts';
import { contenderColour, describe, frame, lineName, marks, plotHeight, ranges, type Plot } from './plot.ts';

/** Plots the latency of answers: median and 99th percentile. */
export function latencyPlot(workloads: WorkloadSummary[]): Plot | undefined {
  const rows = workloads.flatMap((workload) =>
    workload.rows.flatMap((row) =>
      row.latencyMs && row.latencyMs.p50 > 0
        ? [{ ...row, name: lineName(row, workload, true), latencyMs: row.latencyMs }]
        : [],
    ),
  );
  if (rows.length === 0) return undefined;
  const lines = rows.map(({ name, latencyMs }) => ({
    name,
    figure: `p50 ${figure(latencyMs.p50)} ms\np99 ${figure(latencyMs.p99)} ms`,
  }));
  const title = 'Time to the answer where arrivals follow a clock';
  return {
    title,
    caption:
      'From the bar (p50: half of the answers came sooner) to the dot (p99: all but one in a hundred), medians over the runs. ' +
      'The scale is logarithmic: each step to the right is ten times as much.',
    alternative: describe(title, lines),
    height: plotHeight(rows.length),
    option: (width) =>
      frame({
        width,
        lines,
        unit: 'milliseconds',
        xAxis: { type: 'log', axisLabel: { formatter: (value: number) => value.toLocaleString('en-US') } },
        series: [
          ranges(
            rows.map((row, index) => ({
              row: index,
              from: row.latencyMs.p50,
              to: row.latencyMs.p99,
              colour: contenderColour(row),
            })),
          ),
          marks(
            'p50',
            'rect',
            [4, 18],
            rows.map((row, index) => ({
              row: index,
              value: row.latencyMs.p50,
              colour: contenderColour(row),
            })),
          ),
          marks(
            'p99',
            'circle',
            10,
            rows.map((row, index) => ({
              row: index,
              value: row.latencyMs.p99,
              colour: contenderColour(row),
            })),
          ),
        ],
      }),
  };
}
