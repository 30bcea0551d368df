import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent } from 'echarts/components';
import { init, setPlatformAPI, use } from 'echarts/core';
import type { EChartsOption } from 'echarts';
import { SVGRenderer } from 'echarts/renderers';

use([
  BarChart,
  CustomChart,
  LineChart,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  ScatterChart,
  SVGRenderer,
]);

// Without a browser, ECharts underestimates text and cuts off labels in wide and bold fonts.
setPlatformAPI({
  measureText: (text, font) => ({
    width: textWidth(text, Number(/([\d.]+)px/.exec(font ?? '')?.[1] ?? 12), /bold/.test(font ?? '')),
  }),
});

/** Estimates the width of a text in pixels, rather too wide than too narrow. */
export function textWidth(text: string, fontSize: number, bold = false): number {
  // ECharts derives the height of a line from the width of a Chinese character.
  const isWide = (character: string): boolean => character >= '\u2e80';
  const ems = Array.from(text, (character) => (isWide(character) ? 1 : bold ? 0.68 : 0.6));
  return ems.reduce((sum, em) => sum + em, 0) * fontSize;
}

/** The page's style sheet defines each colour for light and dark mode. */
export const COLOURS = {
  ink: 'var(--ink)',
  muted: 'var(--muted)',
  line: 'var(--line)',
  floodgate: 'var(--floodgate)',
  other: 'var(--other)',
  api: 'var(--api)',
  worker: 'var(--worker)',
  postgres: 'var(--postgres)',
  redis: 'var(--redis)',
} as const;

export interface Size {
  width: number;
  height: number;
}

/** Returns the chart as an SVG element. */
export function renderChart(option: EChartsOption, { width, height }: Size): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption(option);
    return chart.renderToSVGString();
  } finally {
    // Its timer would keep the process alive.
    chart.dispose();
  }
}
