import { html } from 'ghtml';
import { figureWithRange, spread } from './statistics.ts';
import type { Figure, Results } from './results.ts';
import { tablesOf, type Table } from './tables.ts';

const [WIDTH, NAMES, VALUES, ROW_HEIGHT] = [760, 230, 170, 26];

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
figure { margin: 1rem 0; max-width: 60rem; } svg { width: 100%; height: auto; }
text { fill: currentColor; font-size: 13px; } rect { fill: #2563eb; } .other rect { fill: #8888; }
line { stroke: currentColor; stroke-width: 2; }`;

/** Returns the results as one page that loads nothing: each table, and the first of its columns as a plot. */
export function renderPage(results: Results, provenance: string): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Floodgate benchmark</title>
        <style>
          !${STYLE}
        </style>
      </head>
      <body>
        <h1>Floodgate benchmark</h1>
        <p>${provenance.replaceAll('`', '')}</p>
        !${tablesOf(results).map((table) => section(table, results.figures))}
        <ul>
          !${results.discarded.map((one) => html`<li>Discarded: ${one}</li>`)}
        </ul>
      </body>
    </html>`;
}

function section(table: Table, figures: readonly Figure[]): string {
  return html`<section>
    <h2>${table.title}</h2>
    <p>${table.note ?? ''}</p>
    !${plot(figures.filter((one) => one.table === table.title))}
    <div class="scroll" tabindex="0">
      <table>
        <thead>
          <tr>
            !${table.columns.map((title) => html`<th scope="col">${title}</th>`)}
          </tr>
        </thead>
        <tbody>
          !${table.rows.map(
            (row) =>
              html`<tr>
                !${row.map((text) => html`<td>${text}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** Returns bars of the medians with their ranges, or nothing for a single row. */
function plot(figures: readonly Figure[]): string {
  const [first] = figures;
  const bars = figures.filter(({ column }) => column === first?.column);
  if (!first || bars.length < 2) return '';
  const most = Math.max(...bars.flatMap(({ rounds }) => rounds), Number.MIN_VALUE);
  const x = (value: number): number => NAMES + (Math.max(0, value) / most) * (WIDTH - NAMES - VALUES);
  const drawn = bars.map(({ row, rounds }, index) => {
    const { median, min, max } = spread(rounds);
    const y = index * ROW_HEIGHT;
    return html`<g class="${index === 0 ? 'first' : 'other'}">
      <text x="0" y="${y + 17}">${row}</text>
      <rect x="${NAMES}" y="${y + 4}" width="${x(median) - NAMES}" height="${ROW_HEIGHT - 8}" />
      <line x1="${x(min)}" x2="${x(max)}" y1="${y + ROW_HEIGHT / 2}" y2="${y + ROW_HEIGHT / 2}" />
      <text x="${WIDTH - VALUES + 8}" y="${y + 17}">${figureWithRange(rounds)}</text>
    </g>`;
  });
  return html`<figure>
    <figcaption>${first.column}</figcaption>
    <svg
      viewBox="0 0 ${WIDTH} ${bars.length * ROW_HEIGHT}"
      role="img"
      aria-label="${first.table}: ${first.column}"
    >
      !${drawn}
    </svg>
  </figure>`;
}
