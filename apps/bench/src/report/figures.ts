import type { Spread } from '../results.ts';

/** Formats a figure with three digits, more than the noise of a benchmark justifies: 12,345 · 123 · 12.3 · 1.23. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const decimals = size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Formats a figure with its range, if it has one, e.g. "10,010 (9,800–10,300)". */
export function figureWithRange({ median, min, max }: Spread, unit = ''): string {
  const range = min === max ? '' : ` (${figure(min)}–${figure(max)})`;
  return `${figure(median)}${unit}${range}`;
}

/** Formats a tick of an axis, which has little space: 500 · 2.5k · 100k. */
export function compact(value: number): string {
  return value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : `${Number(value.toPrecision(3))}`;
}

/** e.g. "00: 9,120, 90: 12". */
export const countsText = (counts: Record<string, number>) =>
  Object.entries(counts)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([code, count]) => `${code}: ${figure(count)}`)
    .join(', ');
