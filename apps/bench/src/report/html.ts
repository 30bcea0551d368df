import { readFileSync } from 'node:fs';
import type { BenchResults } from '../results.ts';
import { renderChart } from './chart.ts';
import type { Table } from './columns.ts';
import { markup, Markup, type Content } from './markup.ts';
import { latencyPlot } from './plots/latency.ts';
import { cpuPlot, memoryPlot } from './plots/parts.ts';
import type { Plot } from './plots/plot.ts';
import { ratesPlot } from './plots/rates.ts';
import { ratiosPlot } from './plots/ratios.ts';
import { soakPlot } from './plots/soak.ts';
import { sizingTable } from './sizing.ts';
import { discardedRuns, summarize, type WorkloadSummary } from './summary.ts';
import { nameDiscarded, specialTables, targetsTable, workloadTables } from './tables.ts';

/** A wide plot on a phone would have tiny text, so each plot is drawn twice and the style sheet selects one. */
const WIDTHS = { wide: 800, narrow: 360 };

/** Returns the results as one HTML file without scripts, fonts or requests. */
export function renderHtml(results: BenchResults): string {
  const workloads = summarize(results);
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Floodgate benchmark, ${results.startedAt}</title>
<style>${styleSheet()}</style>
</head>
<body>
<main>
<h1>Floodgate benchmark</h1>
${provenance(results)}
${targets(results)}
${plots(workloads, results)}
${workloads.map(workloadSection)}
${sizing(results)}
${specialTables(results).map((table) => markup`<section><h2>${table.caption}</h2>${tableMarkup(table)}</section>`)}
${discarded(results)}
${definitions('Contenders', results.contenders)}
${definitions(
  'Versions',
  Object.entries(results.versions).map(([name, description]) => ({ name, description })),
)}
</main>
</body>
</html>
`;
  return page.text;
}

function provenance({ command, commit, startedAt, machine }: BenchResults): Markup {
  const { cpu, cores, memoryGiB, os } = machine;
  return markup`<dl class="facts">
<dt>Started</dt><dd><time datetime="${startedAt}">${startedAt}</time></dd>
<dt>Command</dt><dd><code>${command}</code></dd>
<dt>Commit</dt><dd>${commit === null ? 'outside a checkout' : markup`<code>${commit}</code>`}</dd>
<dt>Machine</dt><dd>${cpu}, ${cores} cores, ${Math.round(memoryGiB)} GiB, ${os}</dd>
</dl>`;
}

function targets(results: BenchResults): Content {
  if (results.targets.length === 0) return '';
  const met = results.targets.filter((target) => target.met).length;
  return markup`<section>
<h2>Targets: ${met} of ${results.targets.length} met</h2>
${tableMarkup(targetsTable(results.targets))}
</section>`;
}

/** Plots the first workload that is not paced in full. The others add their ratios. */
function plots(workloads: WorkloadSummary[], { soak }: BenchResults): Content {
  const saturating = workloads.filter(({ paced }) => !paced);
  const lead = saturating[0];
  const drawn = [
    ...(lead ? [ratesPlot(lead)] : []),
    ratiosPlot(saturating),
    ...(lead ? [cpuPlot(lead)] : []),
    latencyPlot(workloads.filter(({ paced }) => paced)),
    ...(lead ? [memoryPlot(lead)] : []),
    ...(soak ? [soakPlot(soak)] : []),
  ].filter((plot) => plot !== undefined);
  if (drawn.length === 0) return '';
  return markup`<section>
<h2>At a glance</h2>
${drawn.map(plotMarkup)}</section>
`;
}

function workloadSection(workload: WorkloadSummary): Markup {
  return markup`<section>
<h2>${workload.name}</h2>
<p>${workload.description}</p>
${workloadTables(workload).map(tableMarkup)}
</section>
`;
}

function sizing(results: BenchResults): Content {
  const table = sizingTable(results);
  return table ? markup`<section><h2>Sizing</h2>${tableMarkup(table)}</section>` : '';
}

function plotMarkup(plot: Plot): Markup {
  const drawn = Object.entries(WIDTHS).map(([name, width]) => {
    const svg = renderChart(plot.option(width), { width, height: plot.height });
    return markup`<div class="${name}" role="img" aria-label="${plot.alternative}">${new Markup(svg)}</div>`;
  });
  return markup`<figure>
<figcaption><h3>${plot.title}</h3><p>${plot.caption}</p></figcaption>
${drawn}
</figure>
`;
}

/** A table can be wider than a phone, so it scrolls, also by keyboard. */
function tableMarkup({ caption, columns, rows }: Table): Markup {
  const cell = (text: string, index: number): Markup => {
    const { align } = columns[index]!;
    return index === 0
      ? markup`<th scope="row" class="${align}">${text}</th>`
      : markup`<td class="${align}">${text}</td>`;
  };
  return markup`<div class="scroll" role="region" tabindex="0" aria-label="${caption}">
<table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ title, align }) => markup`<th scope="col" class="${align}">${title}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => markup`<tr>${row.map(cell)}</tr>\n`)}</tbody>
</table>
</div>
`;
}

function discarded(results: BenchResults): Content {
  const runs = discardedRuns(results);
  if (runs.length === 0) return '';
  return markup`<section>
<h2>Discarded runs: ${runs.length}</h2>
<p>No figure above contains them.</p>
<ul>${runs.map((run) => markup`<li>${nameDiscarded(run)}</li>`)}</ul>
</section>`;
}

function definitions(title: string, entries: { name: string; description: string }[]): Content {
  if (entries.length === 0) return '';
  return markup`<section>
<h2>${title}</h2>
<dl class="facts">${entries.map(({ name, description }) => markup`<dt>${name}</dt><dd>${description}</dd>\n`)}</dl>
</section>`;
}

function styleSheet(): Markup {
  return new Markup(readFileSync(new URL('html.css', import.meta.url), 'utf8'));
}
