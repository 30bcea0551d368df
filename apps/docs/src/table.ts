/** Returns a Markdown table. */
export function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return `${[headings, headings.map(() => '---'), ...rows].map(line).join('\n')}\n`;
}
