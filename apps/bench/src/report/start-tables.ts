import type { Start } from '../results.ts';
import { left, right, tableOf, type Table } from './columns.ts';
import { figure, figureWithRange } from './figures.ts';
import { spread } from './statistics.ts';

/** Minimum share of the new space that a scavenge must free. Below this, V8 promotes short-lived objects to the old space. */
const HEALTHY_SHARE = 0.9;
const AS_THEY_ARE = 'as they are';

/** Returns a table by flags, and one of all starts. */
export function startTables(starts: readonly Start[]): Table[] {
  return [variantTable(starts), everyStartTable(starts)];
}

/** Returns whether every scavenge freed enough. */
export const isHealthy = ({ freedShare }: Start): boolean => freedShare.worst >= HEALTHY_SHARE;

interface Variant {
  flags: string;
  starts: readonly Start[];
  /** Starts without added flags, by round. */
  usual: ReadonlyMap<number, Start>;
}

function variantTable(starts: readonly Start[]): Table {
  const columns = [
    left<Variant>('flags', ({ flags }) => flags || AS_THEY_ARE),
    right<Variant>(`every scavenge frees ≥ ${HEALTHY_SHARE}`, (one) => healthyText(one.starts)),
    right<Variant>('registrations/s', (one) => spreadText(one, (start) => start.perSecond)),
    right<Variant>('÷ as they are', (one) => ratioText(one, (start) => start.perSecond)),
    right<Variant>('API µs', (one) => spreadText(one, (start) => start.apiCpuMicros)),
    right<Variant>('÷ as they are', (one) => ratioText(one, (start) => start.apiCpuMicros)),
    right<Variant>('scavenge ms', (one) => spreadText(one, (start) => start.scavengeMs)),
    right<Variant>('p99 ms', (one) => spreadText(one, (start) => start.p99Ms)),
    right<Variant>('API MiB', (one) => spreadText(one, (start) => start.apiMiB)),
  ];
  const usual = new Map(starts.filter(({ flags }) => flags === '').map((start) => [start.round, start]));
  const variants = [...Map.groupBy(starts, ({ flags }) => flags)].map(([flags, same]) => ({
    flags,
    starts: same,
    usual,
  }));
  return tableOf('Starts of the API under one hot ticket, by V8 flags added to its own', columns, variants);
}

function everyStartTable(starts: readonly Start[]): Table {
  const columns = [
    left<Start>('flags', ({ flags }) => flags || AS_THEY_ARE),
    right<Start>('start', ({ round }) => `${round}`),
    right<Start>('freed, median', ({ freedShare }) => figure(freedShare.median)),
    right<Start>('freed, worst', ({ freedShare }) => figure(freedShare.worst)),
    right<Start>('scavenges', ({ scavenges }) => `${scavenges}`),
    right<Start>('ms each', ({ scavengeMs }) => figure(scavengeMs)),
    right<Start>('mark-compacts', ({ markCompacts }) => `${markCompacts}`),
    right<Start>('API µs', ({ apiCpuMicros }) => figure(apiCpuMicros)),
    right<Start>('registrations/s', ({ perSecond }) => figure(perSecond)),
    left<Start>(`all ≥ ${HEALTHY_SHARE}`, (start) => (isHealthy(start) ? 'yes' : 'no')),
  ];
  return tableOf('Every start: the share of the new space that its scavenges freed', columns, starts);
}

/** Returns ratios of neighbouring starts, which share the machine's other load. */
function ratioText({ flags, starts, usual }: Variant, pick: (start: Start) => number): string | undefined {
  if (flags === '') return undefined;
  return figureWithRange(spread(starts.map((start) => pick(start) / pick(usual.get(start.round)!))));
}

const healthyText = (starts: readonly Start[]) => `${starts.filter(isHealthy).length} of ${starts.length}`;

const spreadText = ({ starts }: Variant, pick: (start: Start) => number) =>
  figureWithRange(spread(starts.map(pick)));
