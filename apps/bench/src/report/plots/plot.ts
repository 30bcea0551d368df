import type { EChartsOption, SeriesOption, XAXisComponentOption } from 'echarts';
import { COLOURS, textWidth } from '../chart.ts';
import type { Row, WorkloadSummary } from '../summary.ts';

/** A plot that can be drawn at any width. Its height does not change. */
export interface Plot {
  title: string;
  /** Explains how to read the plot. */
  caption: string;
  /** Text alternative for readers who cannot see the plot. */
  alternative: string;
  height: number;
  option(width: number): EChartsOption;
}

/** A line of a plot, with its name on the left and its figure on the right. */
export interface Line {
  name: string;
  figure: string;
}

interface Frame {
  width: number;
  lines: Line[];
  xAxis: XAXisComponentOption;
  unit: string;
  series: SeriesOption[];
  legend?: string[];
}

const ROW_HEIGHT = 50;
const AXIS_HEIGHT = 52;
const LEGEND_HEIGHT = 30;
export const FONT = { fontFamily: 'system-ui, sans-serif', fontSize: 12 };
export const LEGEND = {
  top: 0,
  left: 0,
  icon: 'roundRect',
  itemWidth: 14,
  itemHeight: 10,
  itemGap: 20,
  textStyle: { ...FONT, color: COLOURS.ink },
};

export function plotHeight(rows: number, hasLegend = false): number {
  return rows * ROW_HEIGHT + AXIS_HEIGHT + (hasLegend ? LEGEND_HEIGHT : 0);
}

/** Returns the contender and, below it, the difference from its other lines. */
export function lineName(
  { contender, connections }: Row,
  { name, severalConnections }: WorkloadSummary,
  severalWorkloads = false,
): string {
  return [
    contender,
    ...(severalWorkloads ? [name] : []),
    ...(severalConnections ? [`${connections} connections`] : []),
  ].join('\n');
}

/** Returns the text alternative: every line with its figure. */
export function describe(title: string, lines: Line[]): string {
  const parts = lines.map(
    ({ name, figure }) => `${name.replaceAll('\n', ', ')}: ${figure.replaceAll('\n', ' ')}`,
  );
  return `${title}. ${parts.join('; ')}.`;
}

export function contenderColour({ contender }: Row): string {
  return contender.toLowerCase().startsWith('floodgate') ? COLOURS.floodgate : COLOURS.other;
}

/** Returns rows with a name on the left and a figure on the right, so that no text covers the data. */
export function frame({ width, lines, xAxis, unit, series, legend }: Frame): EChartsOption {
  const widest = Math.round(width * 0.3);
  const nameLines = lines.flatMap(({ name }) => name.split('\n'));
  // ECharts reserves a label's width even if the text is shorter.
  const fits = nameLines.every((text) => textWidth(text, FONT.fontSize) <= widest);
  const labels = {
    ...FONT,
    color: COLOURS.ink,
    lineHeight: 14,
    // Shows all names, even if they are close to each other.
    interval: 0,
  } as const;
  const rows = {
    type: 'category',
    inverse: true,
    axisTick: { show: false },
    axisLine: { show: false },
  } as const;
  return {
    animation: false,
    textStyle: FONT,
    ...(legend && {
      legend: { ...LEGEND, data: legend },
    }),
    grid: {
      left: 2,
      right: 2,
      top: legend ? LEGEND_HEIGHT : 0,
      bottom: 2,
      outerBounds: { left: 2, right: 2 },
    },
    xAxis: {
      name: unit,
      nameLocation: 'middle',
      nameGap: 10,
      nameTextStyle: { ...FONT, color: COLOURS.muted },
      splitLine: { lineStyle: { color: COLOURS.line } },
      axisLine: { show: false },
      ...xAxis,
      axisLabel: { ...FONT, color: COLOURS.muted, hideOverlap: true, ...xAxis.axisLabel },
    } as XAXisComponentOption,
    yAxis: [
      {
        ...rows,
        data: lines.map(({ name }) => name),
        axisLabel: { ...labels, ...(fits ? {} : { overflow: 'break', width: widest }) },
      },
      {
        ...rows,
        position: 'right',
        data: lines.map(({ figure }) => figure),
        axisLabel: { ...labels, fontWeight: 'bold' },
      },
    ],
    series: series.map((one) => ({ ...one, silent: true })),
  };
}

/** Draws a line from the lower to the higher value of each row. */
export function ranges(ends: { row: number; from: number; to: number; colour: string }[]): SeriesOption {
  return {
    type: 'custom',
    encode: { x: [0, 1], y: 2 },
    data: ends.map(({ row, from, to }) => [from, to, row]),
    renderItem: (params, api) => {
      const [x1, y1] = api.coord([api.value(0), api.value(2)]);
      const [x2, y2] = api.coord([api.value(1), api.value(2)]);
      const stroke = ends[params.dataIndex]!.colour;
      return {
        type: 'line',
        shape: { x1: x1!, y1: y1!, x2: x2!, y2: y2! },
        style: { stroke, lineWidth: 2, opacity: 0.55 },
      };
    },
  };
}

/** Draws marks of one kind, each in its row. */
export function marks(
  name: string,
  symbol: 'circle' | 'rect',
  symbolSize: number | [number, number],
  at: { row: number; value: number; colour: string }[],
  opacity = 1,
): SeriesOption {
  return {
    name,
    type: 'scatter',
    symbol,
    symbolSize,
    data: at.map(({ row, value, colour }) => ({
      value: [value, row],
      itemStyle: { color: colour, opacity },
    })),
  };
}
