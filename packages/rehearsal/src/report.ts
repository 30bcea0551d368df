import { html } from 'ghtml';
import { quantile, timesOf, type Objective } from './objectives.ts';
import type { Rehearsal } from './rehearse.ts';

/** A line of a plot: a value per second, null where there is none. */
type Line = { name: string; values: (number | null)[] };

const [WIDTH, HEIGHT, LEFT, TOP] = [720, 220, 60, 10];
const COLOURS = ['#2563eb', '#b45309', '#15803d', '#be123c', '#7c3aed', '#0e7490'];

/** Returns lines over the seconds of the rehearsal as an SVG picture. */
function plot(title: string, lines: readonly Line[]) {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.map(Number)));
  const seconds = Math.max(2, ...lines.map(({ values }) => values.length));
  const x = (second: number) => LEFT + (second / (seconds - 1)) * (WIDTH - LEFT);
  const y = (value: number) => TOP + (1 - value / most) * HEIGHT;
  const pathOf = ({ values }: Line) =>
    values
      .flatMap((value, second) => (value === null ? [] : `${x(second).toFixed(1)},${y(value).toFixed(1)}`))
      .join(' ');
  const grid = [0, most / 2, most].map(
    (value) =>
      html`<line x1="${LEFT}" x2="${WIDTH}" y1="${y(value)}" y2="${y(value)}" />
        <text x="${LEFT - 6}" y="${y(value) + 4}">${Math.round(value)}</text>`,
  );
  const paths = lines.map(
    (line, index) => html`<polyline points="${pathOf(line)}" stroke="${colourOf(index)}" />`,
  );
  return html`<figure>
    <figcaption>${title}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT + 40}" role="img" aria-label="${title}">
      !${grid}
      <text x="${WIDTH}" y="${HEIGHT + 32}">${seconds - 1} s</text>
      !${paths}
    </svg>
    <p>!${lines.map(({ name }, index) => html`<b style="color:${colourOf(index)}">■</b> ${name} `)}</p>
  </figure>`;
}

const numberText = (value: number) => Math.round(value).toLocaleString('en');

const colourOf = (index: number) => COLOURS[index % COLOURS.length]!;

/** Returns the values of each second of a rehearsal: of requests by the time at which they were due. */
function bySecond({ log, seconds }: Rehearsal, valueOf: (numbers: number[]) => number | null) {
  const dueIn = Array.from({ length: Math.ceil(seconds) }, (): number[] => []);
  log.dueAt.forEach((at, number) => dueIn[Math.floor(at / 1_000)]?.push(number));
  return dueIn.map(valueOf);
}

function figureText({ measured, unit }: Objective) {
  if (measured === null) return 'no answers';
  return `${measured >= 100 || unit === '' ? numberText(measured) : measured.toFixed(2)} ${unit}`.trimEnd();
}

/** Returns the rows of a table of objectives. */
export const rowsOf = (objectives: readonly Objective[]) =>
  objectives.map((objective) => ({
    objective: objective.name,
    'at most': `${objective.atMost} ${objective.unit}`.trimEnd(),
    measured: figureText(objective),
    met: objective.isMet ? 'yes' : 'no',
  }));

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .3rem .8rem; text-align: left; border-bottom: 1px solid #8884; }
th::first-letter { text-transform: uppercase; }
figure { margin: 2rem 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; }
text { fill: currentColor; font-size: 12px; text-anchor: end; } line { stroke: currentColor; opacity: .2; }
polyline { fill: none; stroke-width: 2; }`;

/** Returns the report as one HTML page that loads nothing. It contains no keys and no attendees. */
export function reportOf(rehearsal: Rehearsal) {
  const { url, perSecond, seconds, startedAt, figures, objectives, advice, log } = rehearsal;
  const isPassed = objectives.every(({ isMet }) => isMet);
  const codes = Object.keys(figures.codes).toSorted();
  const ofCode = (code: string) =>
    bySecond(rehearsal, (numbers) => numbers.filter((number) => log.code[number] === code).length);
  const latencies = [0.5, 0.9, 0.99].map((share) => ({
    name: `p${share * 100}`,
    values: bySecond(rehearsal, (numbers) => quantile(timesOf(log, numbers), share)),
  }));
  const rows = rowsOf(objectives);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Rehearsal of a launch</title>
        <style>
          !${STYLE}
        </style>
      </head>
      <body>
        <h1>Rehearsal of a launch: ${isPassed ? 'passed' : 'failed'}</h1>
        <p>
          ${new URL(url).host}, ${perSecond} registrations per second for ${seconds} s,
          ${startedAt.toISOString()}
        </p>
        <ul>
          !${advice.map((sentence) => html`<li>${sentence}</li>`)}
        </ul>
        <table>
          <thead>
            <tr>
              !${Object.keys(rows[0]!).map((name) => html`<th>${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            !${rows.map(
              (row) =>
                html`<tr>
                  !${Object.values(row).map((text) => html`<td>${text}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
        !${plot(
          'Answers per second, by response code',
          codes.map((name) => ({ name, values: ofCode(name) })),
        )}
        !${plot('Time from the scheduled arrival to the answer, in milliseconds', latencies)}
      </body>
    </html>`;
}
