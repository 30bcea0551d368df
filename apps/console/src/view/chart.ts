import { html } from 'ghtml';
import type { Format } from './format.ts';

/** A line of a chart, or the bars of one colour. */
export interface Series {
  name: string;
  /** One value for each label. Null: not known. */
  values: readonly (number | null)[];
}

interface ChartOptions {
  /** The meaning of the chart, for people who do not see it. */
  title: string;
  /** The texts below the chart, one for each value. Some are left out if they are many. */
  labels: readonly string[];
  series: readonly Series[];
  format: Format;
  /** How a value is shown. Default: as a number. */
  valueText?: (value: number) => string;
  /** How a value is shown at a line across, where there is little room. Default: as the others. */
  axisText?: (value: number) => string;
  /** The name of the column with the labels, and of the link to the table. */
  words: { time: string; asTable: string };
  /** Coarser figures for the table. Default: those of the chart. */
  table?: Pick<ChartOptions, 'labels' | 'series'>;
}

/** The units of a plot. It is stretched to the room that it has, and its texts are not. */
const WIDTH = 720;
const HEIGHT = 144;
const MOST_LABELS = 5;
/** The lines across: at all, half and nothing. */
const STEPS = [1, 0.5, 0];

const yOf = (share: number) => HEIGHT * (1 - share);

/** Returns the largest number of an axis: 1, 2 or 5 times a power of ten, at least `most`. */
export function axisEnd(most: number) {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((step) => step * power).find((end) => end >= most)!;
}

/** Returns a chart of lines over time, with the same figures as a table below it. */
export const lineChart = (options: ChartOptions) => chart(options, linesHtml);

/** Returns a chart of bars side by side, with the same figures as a table below it. */
export const barChart = (options: ChartOptions) => chart(options, barsHtml);

type Draw = (series: readonly Series[], count: number, end: number) => string[];

function chart(options: ChartOptions, draw: Draw) {
  const { title, labels, series, format, words } = options;
  const { valueText = (value: number) => format.number(value), axisText = valueText } = options;
  const end = axisEnd(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
  return html`<figure class="chart">
    <div class="plot" role="img" aria-label="${title}">
      <div class="scale">!${STEPS.map((share) => html`<span>${axisText(end * share)}</span>`)}</div>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
        !${STEPS.map(acrossHtml)} !${draw(series, labels.length, end)}
      </svg>
      <svg class="labels">!${labelsHtml(labels)}</svg>
    </div>
    <figcaption>
      !${series.map(
        ({ name }, index) => html`<span class="legend"><i class="c${index % 6}"></i>${name}</span>`,
      )}
    </figcaption>
    <details>
      <summary>${words.asTable}</summary>
      !${tableHtml({ ...options, ...options.table }, valueText)}
    </details>
  </figure>`;
}

function acrossHtml(share: number) {
  const y = yOf(share).toFixed(1);
  return html`<line class="axis" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"></line>`;
}

/** Returns the labels below a plot. On a narrow screen, only each second one is shown. */
function labelsHtml(labels: readonly string[]) {
  const step = Math.max(1, Math.ceil(labels.length / MOST_LABELS));
  return labels
    .filter((_, index) => index % step === 0)
    .map((label, index) => {
      const x = ((100 * xOf(index * step, labels.length)) / WIDTH).toFixed(1);
      return html`<text class="${index % 2 === 0 ? '' : 'second'}" x="${x}%" y="12">${label}</text>`;
    });
}

const xOf = (index: number, count: number) => (WIDTH * (index + 0.5)) / Math.max(1, count);

const linesHtml: Draw = (series, count, end) =>
  series.map(({ values }, index) => {
    const path = values.map((value, place) => {
      if (value === null) return '';
      const isStart = place === 0 || values[place - 1] === null;
      return `${isStart ? 'M' : 'L'}${xOf(place, count).toFixed(1)},${yOf(value / end).toFixed(1)}`;
    });
    return html`<path class="line c${index % 6}" d="${path.join('')}"></path>`;
  });

const barsHtml: Draw = (series, count, end) => {
  const room = WIDTH / Math.max(1, count);
  const width = Math.max(1, (room * 0.8) / series.length);
  return series.flatMap(({ values }, index) =>
    values.map((value, place) => {
      const x = room * (place + 0.1) + width * index;
      const y = yOf((value ?? 0) / end);
      return html`<rect
        class="bars c${index % 6}"
        x="${x.toFixed(1)}"
        y="${y.toFixed(1)}"
        width="${width.toFixed(1)}"
        height="${(HEIGHT - y).toFixed(1)}"
      ></rect>`;
    }),
  );
};

const tableHtml = ({ labels, series, words }: ChartOptions, valueText: (value: number) => string) =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${words.asTable}">
    <table>
      <thead>
        <tr>
          <th scope="col">${words.time}</th>
          !${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        !${labels.map(
          (label, index) =>
            html`<tr>
              <th scope="row">${label}</th>
              !${series.map(({ values }) => {
                const value = values[index] ?? null;
                return html`<td class="number">${value === null ? '–' : valueText(value)}</td>`;
              })}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
