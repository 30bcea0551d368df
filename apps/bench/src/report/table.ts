import { PARTS } from '../contenders/contender.ts';
import type { BenchResults } from '../results.ts';
import type { Table } from './columns.ts';
import { figure } from './figures.ts';
import { sizingTable } from './sizing.ts';
import { discardedRuns, summarize } from './summary.ts';
import { nameDiscarded, specialTables, targetsTable, workloadTables } from './tables.ts';

/** Returns the results as Markdown that is also readable in a terminal. */
export function renderTable(results: BenchResults): string {
  const sizing = sizingTable(results);
  const sections = [
    provenance(results),
    ...summarize(results).flatMap((workload) => [
      `### ${plain(workload.name)}`,
      ...(workload.description === '' ? [] : [plain(workload.description)]),
      ...workloadTables(workload).flatMap((table) => [`${table.caption}:`, markdownTable(table)]),
    ]),
    ...(sizing ? [`### ${sizing.caption}`, markdownTable(sizing)] : []),
    ...soakLines(results),
    ...specialTables(results).flatMap((table) => [`### ${table.caption}`, markdownTable(table)]),
    ...(results.targets.length === 0 ? [] : ['### Targets', markdownTable(targetsTable(results.targets))]),
    ...discarded(results),
  ];
  return `${sections.join('\n\n')}\n`;
}

function provenance({ command, commit, startedAt, machine }: BenchResults): string {
  const { cpu, cores, memoryGiB, os } = machine;
  const origin = commit === null ? 'outside a checkout' : `commit ${commit}`;
  return plain(
    `\`${command}\`, ${origin}, ${startedAt}, on ${cpu}, ${cores} cores, ${Math.round(memoryGiB)} GiB, ${os}`,
  );
}

function soakLines({ soak }: BenchResults): string[] {
  if (!soak) return [];
  const table: Table = {
    caption: '',
    columns: ['minute', ...PARTS.map((part) => `${part} MiB`)].map((title) => ({ title, align: 'right' })),
    rows: soak.samples
      .filter((_, index, all) => index === 0 || minuteOf(all[index]!) !== minuteOf(all[index - 1]!))
      .map((sample) => [
        `${minuteOf(sample)}`,
        ...PARTS.map((part) => figure(sample.residentMiB[part] ?? Number.NaN)),
      ]),
  };
  return ['### Soak', plain(soak.description), markdownTable(table)];
}

const minuteOf = ({ second }: { second: number }) => Math.floor(second / 60);

function discarded(results: BenchResults): string[] {
  const runs = discardedRuns(results);
  if (runs.length === 0) return [];
  const list = runs.map((run) => `- ${plain(nameDiscarded(run))}`).join('\n');
  return [`Discarded runs, which no figure contains: ${runs.length}`, list];
}

function markdownTable({ columns, rows }: Table): string {
  const lines = [columns.map(({ title }) => title), ...rows].map((line) => line.map(cellText));
  const widths = columns.map((_, index) => Math.max(3, ...lines.map((line) => line[index]!.length)));
  const render = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  const [header, ...body] = lines.map((line) =>
    render(
      line.map((cell, index) =>
        columns[index]!.align === 'right' ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!),
      ),
    ),
  );
  const rule = columns.map(({ align }, index) =>
    align === 'right' ? `${'-'.repeat(widths[index]! - 1)}:` : '-'.repeat(widths[index]!),
  );
  return [header, render(rule), ...body].join('\n');
}

function cellText(text: string): string {
  return plain(text).replaceAll('|', String.raw`\|`);
}

/** Returns the text on one line without control characters. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}
