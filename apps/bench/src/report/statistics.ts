import type { Spread } from '../results.ts';

/** Returns the median of `values`. Throws on an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (lower === undefined || upper === undefined) throw new RangeError('an empty list has no median');
  return (lower + upper) / 2;
}

/** Returns the median of the defined values, or undefined if there is none. */
export function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? median(known) : undefined;
}

/** Returns median and range of `values`. Throws on an empty list. */
export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Returns the value below which this share (0–1) of `values` lies, or NaN for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
