import { html } from 'ghtml';
import type { Words } from '../words/index.ts';
import { barChart, lineChart, type Series } from './chart.ts';
import type { Format } from './format.ts';

/** How many of something at a time: the seats of a ticket that were sold on a day. */
export interface Moment {
  at: Date;
  name: string;
  count: number;
}

export type Step = 'day' | 'hour' | 'quarter';

interface TimeChart {
  title: string;
  step: Step;
  moments: readonly Moment[];
  /** Each value is the sum of all until then. */
  isSum?: boolean;
  format: Format;
  words: Words;
}

/** As many colours as can be told apart. The others are one series. */
const MOST_SERIES = 5;
const MOST_STEPS = 400;
/** Up to so many steps, bars are wide enough. */
const MOST_BARS = 31;

const LENGTHS = { day: { days: 1 }, hour: { hours: 1 }, quarter: { minutes: 15 } } as const;

/**
 * Returns the starts of the steps from the first time to the last one, those without anything as well. Of too
 * many, only the last ones.
 */
export function stepsBetween(first: Date, last: Date, step: Step, zone: string): Date[] {
  const steps: Date[] = [];
  let start = Temporal.Instant.fromEpochMilliseconds(last.getTime()).toZonedDateTimeISO(zone);
  while (start.epochMilliseconds >= first.getTime() && steps.length < MOST_STEPS) {
    steps.push(new Date(start.epochMilliseconds));
    const before = start.subtract(LENGTHS[step]);
    // A day begins later where the clock skips midnight.
    start = step === 'day' ? before.startOfDay() : before;
  }
  return steps.toReversed();
}

/** Returns the names with the largest sums, and the name under which each moment is shown. */
function seriesOf(moments: readonly Moment[], others: string) {
  const sums = new Map<string, number>();
  for (const { name, count } of moments) sums.set(name, (sums.get(name) ?? 0) + count);
  const sorted = [...sums].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
  // A single other one has its own name.
  const most = sorted.length === MOST_SERIES + 1 ? MOST_SERIES + 1 : MOST_SERIES;
  const shown = sorted.slice(0, most);
  const isOther = sorted.length > most;
  return {
    names: isOther ? [...shown, others] : shown,
    nameOf: (name: string) => (shown.includes(name) ? name : others),
  };
}

/** Returns a chart of counts over time with a series for each name, or nothing if there are none. */
export function timeChart({ title, step, moments, isSum = false, format, words }: TimeChart) {
  const { reports, shell } = words;
  const times = moments.map(({ at }) => at.getTime());
  if (times.length === 0) return '';
  const [first, last] = times.reduce(([low, high], time) => [Math.min(low, time), Math.max(high, time)], [
    times[0]!,
    times[0]!,
  ] as [number, number]);
  const found = stepsBetween(new Date(first), new Date(last), step, format.zone);
  // A sum starts at nothing.
  const steps = isSum ? [new Date(found[0]!.getTime() - 1), ...found] : found;
  const { names, nameOf } = seriesOf(moments, reports.others);
  const counts = countsOf(moments, nameOf);
  const series = names.map((name): Series => {
    const of = counts.get(name)!;
    if (!isSum) return { name, values: steps.map((at) => of.get(at.getTime()) ?? 0) };
    return { name, values: steps.map((at) => sumUntil(of, at.getTime())) };
  });
  const label = step === 'day' ? (at: Date) => format.shortDay(at) : (at: Date) => format.shortTime(at);
  const shown = isSum ? steps.map((at, index) => (index === 0 ? '' : label(at))) : steps.map(label);
  const draw = isSum || steps.length > MOST_BARS ? lineChart : barChart;
  const heads = { day: reports.day, hour: reports.hour, quarter: reports.quarter };
  const chart = draw({
    title,
    labels: shown,
    series,
    format,
    // Half a seat is none.
    axisText: (count) => (Number.isInteger(count) ? format.number(count) : ''),
    words: { time: heads[step], asTable: shell.asTable },
  });
  const isCut = found[0]!.getTime() > first;
  return isCut
    ? html`!${chart}
        <p class="hint">${reports.chartCut(format.number(found.length))}</p>`
    : chart;
}

function countsOf(moments: readonly Moment[], nameOf: (name: string) => string) {
  const counts = new Map<string, Map<number, number>>();
  for (const { at, name, count } of moments) {
    const of = counts.getOrInsertComputed(nameOf(name), () => new Map<number, number>());
    of.set(at.getTime(), (of.get(at.getTime()) ?? 0) + count);
  }
  return counts;
}

const sumUntil = (counts: ReadonlyMap<number, number>, until: number) =>
  [...counts].reduce((sum, [at, count]) => (at <= until ? sum + count : sum), 0);
