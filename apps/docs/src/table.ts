/** Returns a Markdown table. Cells may hold code; what looks like an element elsewhere is text. */
export function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return `${[headings, headings.map(() => '---'), ...rows].map(line).join('\n')}\n`;
}

/** The site would take `<address>` outside code for an element that is never closed. */
function escapeCell(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll(/(`[^`]*`)|</g, (_, code?: string) => code ?? '&lt;');
}
