import type { Database } from '@floodgate/database';
import type { RunningProcess } from '@floodgate/operators';
import { findSales, keepSeconds, readSeats, removeOldSeconds } from '@floodgate/tickets/console';
import type { Counts, SaleSecond, SeatsNow } from '@floodgate/tickets/console';
import { systemClock } from '@floodgate/service';
import type { InstallationState } from '../installation/watch-installation.ts';
import { undeliveredMsOf, waitingOf } from '../installation/figures.ts';

const SALES_EVERY_MS = 5_000;
const REMOVE_EVERY_MS = 10 * 60_000;

type RefusedOf = Record<string, Counts>;

/**
 * Returns a function that keeps what happened in the sales of all events since its last call. It must be called
 * every second. Of all consoles that run, the one that has run for the longest time keeps it.
 */
export function recordSales(db: Database, processId: string, clock = systemClock) {
  let taken = new Map<number, number>();
  let refused = new Map<string, RefusedOf>();
  let sales = new Map<number, number[]>();
  let foundAt = -Infinity;
  let removedAt = clock.now();

  function forget() {
    taken = new Map();
    refused = new Map();
    foundAt = -Infinity;
  }
  return async ({ processes, work }: InstallationState) => {
    const running = processes?.running ?? [];
    if (!isWriter(running, processId)) return forget();
    const now = clock.now();
    if (now - foundAt >= SALES_EVERY_MS) {
      sales = await findSales(db);
      foundAt = now;
    }
    const refusedNow = refusedSince(refused, running);
    refused = new Map(running.map(({ id, facts }) => [id, facts.refusedOf ?? {}]));
    const load = { waiting: waitingOf(running), undeliveredMs: undeliveredMsOf(work) };
    const before = taken;
    taken = new Map();
    for (const [shardId, eventIds] of sales) {
      const seats = await readSeats(db, shardId, eventIds);
      for (const { id, taken: count } of seats) taken.set(id, count);
      await keepSeconds(db, shardId, secondsOf(seats, before, refusedNow, load));
    }
    if (now - removedAt < REMOVE_EVERY_MS) return;
    removedAt = now;
    await removeOldSeconds(db);
  };
}

function isWriter(running: readonly RunningProcess[], processId: string) {
  const consoles = running.filter(({ service }) => service === 'console');
  const [first] = consoles.toSorted((one, other) => {
    const later = one.startedAt.getTime() - other.startedAt.getTime();
    return later === 0 ? one.id.localeCompare(other.id) : later;
  });
  return first?.id === processId;
}

/** Returns the refusals since the last report, by event. A process that is new has no report before. */
function refusedSince(before: ReadonlyMap<string, RefusedOf>, running: readonly RunningProcess[]) {
  const sums = new Map<number, Counts>();
  for (const { id, facts } of running) {
    const last = before.get(id);
    if (!last) continue;
    for (const [eventId, counts] of Object.entries(facts.refusedOf ?? {})) {
      const sum = sums.getOrInsertComputed(Number(eventId), () => ({}));
      for (const [code, count] of Object.entries(counts)) {
        // The process may have forgotten an event, and counts again.
        const added = Math.max(0, count - (last[eventId]?.[code] ?? 0));
        if (added > 0) sum[code] = (sum[code] ?? 0) + added;
      }
    }
  }
  return sums;
}

/** Returns the second of each event in which something changed. An event that is new has one without figures. */
function secondsOf(
  seats: readonly SeatsNow[],
  before: ReadonlyMap<number, number>,
  refusedNow: ReadonlyMap<number, Counts>,
  load: Pick<SaleSecond, 'waiting' | 'undeliveredMs'>,
) {
  const ofEvents = Map.groupBy(seats, ({ eventId }) => eventId);
  return [...ofEvents].flatMap(([eventId, tickets]) => {
    const refused = refusedNow.get(eventId) ?? {};
    const hasChanged = tickets.some(({ id, taken }) => before.get(id) !== taken);
    if (!hasChanged && Object.keys(refused).length === 0) return [];
    const figures = tickets.map(({ id, left, taken }) => {
      const accepted = Math.max(0, taken - (before.get(id) ?? taken));
      return [id, [left, accepted] as [number, number]] as const;
    });
    const accepted = figures.reduce((sum, [, [, count]]) => sum + count, 0);
    const { at } = tickets[0]!;
    return { eventId, at, accepted, refused, tickets: Object.fromEntries(figures), ...load };
  });
}
