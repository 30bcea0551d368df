/** The median of several values, with their range. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Returns median and range of the values. Throws on an empty list. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (lower === undefined || upper === undefined) throw new RangeError('an empty list has no median');
  return { median: (lower + upper) / 2, min: sorted[0]!, max: sorted.at(-1)! };
}

export const median = (values: readonly number[]): number => spread(values).median;

/**
 * Formats a figure with three digits, more than the noise of a benchmark justifies: 12,345 · 123 · 12.3 ·
 * 1.23.
 */
export function figure(value: number): string {
  const size = Math.abs(value);
  const decimals = size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Formats values by their median and range, e.g. "10,010 (9,800–10,300)". */
export function figureWithRange(values: readonly number[]): string {
  const { median: middle, min, max } = spread(values);
  return figure(middle) + (min === max ? '' : ` (${figure(min)}–${figure(max)})`);
}

/** Returns the value below which this share (0–1) of the values lies, or NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
