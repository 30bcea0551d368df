import { PARTS } from '../../contenders/contender.ts';
import type { EChartsOption } from 'echarts';
import { COLOURS } from '../chart.ts';
import { figure } from '../figures.ts';
import type { Soak } from '../../results.ts';

import { describe, FONT, LEGEND, type Plot } from './plot.ts';

/** Plots the memory of each part over time. */
export function soakPlot({ description, samples }: Soak): Plot | undefined {
  const parts = PARTS.filter((part) => samples.some(({ residentMiB }) => residentMiB[part] !== undefined));
  const [first, last] = [samples[0], samples.at(-1)];
  if (parts.length === 0 || !first || !last) return undefined;
  const lines = parts.map((part) => ({
    name: part,
    figure: `from ${figure(first.residentMiB[part] ?? Number.NaN)} to ${figure(last.residentMiB[part] ?? Number.NaN)} MiB`,
  }));
  const title = 'Resident memory over time';
  const axis = {
    type: 'value',
    nameTextStyle: { ...FONT, color: COLOURS.muted },
    axisLabel: { ...FONT, color: COLOURS.muted, hideOverlap: true },
    splitLine: { lineStyle: { color: COLOURS.line } },
  } as const;
  return {
    title,
    caption: `${description}. ${lines.map((line) => `${line.name} ${line.figure}`).join(', ')}.`,
    alternative: describe(title, lines),
    height: 300,
    option: (): EChartsOption => ({
      animation: false,
      textStyle: FONT,
      legend: { ...LEGEND, data: parts },
      grid: { left: 2, right: 14, top: 40, bottom: 2, outerBounds: { left: 2, right: 2 } },
      xAxis: { ...axis, name: 'seconds', nameLocation: 'middle', nameGap: 10, max: 'dataMax' },
      yAxis: { ...axis, name: 'MiB', nameLocation: 'middle', nameGap: 10 },
      series: parts.map((part) => ({
        name: part,
        type: 'line',
        silent: true,
        showSymbol: false,
        lineStyle: { color: COLOURS[part], width: 2 },
        itemStyle: { color: COLOURS[part] },
        data: samples.map(({ second, residentMiB }) => [second, residentMiB[part] ?? '-']),
      })),
    }),
  };
}
