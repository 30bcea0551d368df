import type { Results } from './results.ts';
import { tablesOf, type Table } from './tables.ts';

/** Returns the results as Markdown that is also readable in a terminal. */
export function renderMarkdown(results: Results, provenance: string): string {
  const sections = [
    plain(provenance),
    ...tablesOf(results).flatMap((table) => [
      `### ${plain(table.title)}`,
      ...(table.note === undefined ? [] : [plain(table.note)]),
      markdownTable(table),
    ]),
  ];
  if (results.discarded.length > 0)
    sections.push(
      `Discarded, and in no figure: ${results.discarded.length}`,
      results.discarded.map((one) => `- ${plain(one)}`).join('\n'),
    );
  return `${sections.join('\n\n')}\n`;
}

function markdownTable({ columns, rows }: Table): string {
  const lines = [columns, ...rows].map((line) => line.map(cellText));
  const widths = columns.map((_, index) => Math.max(3, ...lines.map((line) => line[index]!.length)));
  const [header, ...body] = lines.map((line) => {
    const cells = line.map((cell, index) =>
      index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!),
    );
    return `| ${cells.join(' | ')} |`;
  });
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [header, `| ${rule.join(' | ')} |`, ...body].join('\n');
}

const cellText = (text: string): string => plain(text).replaceAll('|', String.raw`\|`);

/** Returns the text on one line without control characters. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
